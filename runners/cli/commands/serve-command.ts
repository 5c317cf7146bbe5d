import * as z from 'zod';
import { startEmulator } from '../../emulator/start-emulator.js';
import type { CliIo } from '../io/cli-io.js';
import { explainPort } from '../io/explain-error.js';
import { untilStopped } from '../io/listen-for-stop.js';
import { emulatorFlags } from '../options/emulator-flags.js';
import { emulatorSettings } from '../service/start-rehearsal.js';
import { optionValue } from '../options/option-value.js';
import { parseOptions } from '../options/parse-options.js';

const serveOptionsSchema = z.object({
  port: optionValue.wholeNumber(0, 65_535).default(0),
  key: z.string().min(1, 'is empty').optional(),
  ...emulatorFlags,
});

/** The emulator on a port, until SIGINT or SIGTERM. Says where it listens by one JSON line on stdout. Exit 0. */
export async function serveCommand(raw: Readonly<Record<string, unknown>>, io: CliIo): Promise<number> {
  const { port, key, ...flags } = parseOptions(serveOptionsSchema, raw);
  const settings = await emulatorSettings(flags, io.cwd);
  const emulator = await startEmulator({ ...settings, port, key }).catch((error: unknown) =>
    explainPort(error, port),
  );
  const { baseUrl, lbBaseUrl, apiKey } = emulator;
  const stopped = untilStopped(io);
  io.stdout.write(`${JSON.stringify({ baseUrl, lbBaseUrl, apiKey })}\n`);
  await stopped;
  await emulator.close();
  return 0;
}
