import picocolors from 'picocolors';
import type { CliIo, OutStream } from './cli-io.js';

/** The few colours that millrace uses; without colour each leaves its text as it is. */
export type Colors = Pick<
  ReturnType<typeof picocolors.createColors>,
  'bold' | 'dim' | 'green' | 'red' | 'yellow'
>;

/** Colours for a stream: only on a terminal that can show them, and never with NO_COLOR (no-color.org). */
export function pickColors(stream: Pick<OutStream, 'isTTY'>, env: CliIo['env']): Colors {
  const wanted = (env['NO_COLOR'] ?? '') === '' && stream.isTTY === true && env['TERM'] !== 'dumb';
  return picocolors.createColors(wanted);
}
