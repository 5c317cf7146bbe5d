import { formatCount } from '../messages/plain-text.js';
import type { OutStream } from '../io/cli-io.js';

/** What is done after the last row of a large run, as it is shown on stderr. */
export interface AfterRun {
  /** So many rows of the report are written. A small report says nothing of it. */
  written(rows: number, of: number): void;
  /** So many references are fetched for the report. */
  fetched(count: number): void;
  /** The journal is read once more, so that the next start need not. */
  keepsSnapshot(): void;
  /** Takes the line off a terminal. Once. */
  close(): void;
}

const nothing = (): void => undefined;
const silent: AfterRun = { written: nothing, fetched: nothing, keepsSnapshot: nothing, close: nothing };

/** Fewer rows are written before anybody looks into a log. */
const rowsForLog = 50_000;

/** On a terminal a line that is written over at each per cent; in a log a line for the beginning of each piece of work and each quarter. */
export function showAfterRun(stream: OutStream, { quiet }: { readonly quiet: boolean }): AfterRun {
  if (quiet) return silent;
  const onTerminal = stream.isTTY === true;
  const parts = onTerminal ? 100 : 4;
  let isDrawn = false;
  let next = 0;
  const show = (text: string) => {
    stream.write(onTerminal ? `\r${text}\u001b[K` : `${text}\n`);
    isDrawn = onTerminal;
  };
  return {
    written(rows, of) {
      const part = Math.floor((rows * parts) / of);
      if (part < next || part === parts || (!onTerminal && of < rowsForLog)) return;
      next = part + 1;
      show(`writing the report: ${formatCount(rows)} of ${formatCount(of)} rows`);
    },
    fetched: (count) => {
      if (onTerminal) show(`fetching references: ${formatCount(count)}`);
    },
    keepsSnapshot: () => show('keeping a snapshot of the journal for the next start'),
    close() {
      if (isDrawn) stream.write('\r\u001b[K');
    },
  };
}
