import { formatCount } from '../messages/plain-text.js';
import type { OutStream } from '../io/cli-io.js';

/** Shows the work after the last row of a large run on stderr. */
export interface AfterRun {
  /** Shows how many rows of the report are written. A small report shows nothing. */
  written(rows: number, of: number): void;
  /** Shows how many references are fetched for the report. */
  fetched(count: number): void;
  /** Shows that the journal is read once more, for a snapshot that makes the next start fast. */
  keepsSnapshot(): void;
  /** Removes the line from a terminal. Called once. */
  close(): void;
}

const nothing = (): void => undefined;
const silent: AfterRun = { written: nothing, fetched: nothing, keepsSnapshot: nothing, close: nothing };

/** For fewer rows nothing is shown, because the work is over at once. */
const rowsForLog = 50_000;

/** On a terminal it redraws one line at each per cent. In a log it writes a line at the beginning of each task and at each quarter. */
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
