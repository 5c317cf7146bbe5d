import { Subject } from 'rxjs';
import { readLiveLines } from '../../batch/formats.js';
import type { CliIo, OutStream } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import type { SignalOrder } from '../io/listen-for-stop.js';
import type { RunOptions } from '../options/parse-options.js';
import type { LiveRows } from './batch-options.js';

/** Excluded options: they need the whole manifest, or stdout. */
const others = ['limit', 'only', 'retry', 'json'] as const satisfies readonly (keyof RunOptions)[];

/** Reads the rows of `--follow` from stdin. Throws `UsageError` for options that it excludes. */
export function openLiveRows(
  name: string,
  options: RunOptions,
  io: Pick<CliIo, 'stdin' | 'stdout'>,
): LiveRows {
  const problems = [
    ...(name === '-' ? [] : ['--follow: rows are followed on stdin: millrace run - --follow']),
    ...(options.format === 'csv' ? ['--format: --follow reads NDJSON, one object a line'] : []),
    ...(options.out === undefined ? ['--follow needs --out DIR: the journal is kept there'] : []),
    ...(options.changed === 'redo' ? ['--changed: redo does not go with --follow'] : []),
    ...others
      .filter((option) => options[option] !== undefined && options[option] !== false)
      .map((option) => `--${option}: does not go with --follow`),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  const stop$ = new Subject<SignalOrder>();
  return {
    rows: readLiveLines(io.stdin),
    deliver: lineWriter(io.stdout, () => stop$.next({ how: 'graceful', exitCode: 130 })),
    stop$,
    close: () => io.stdin.destroy(),
  };
}

/** Writes a line and waits until the stream has room for the next. Once the reader has gone, nothing is written. */
function lineWriter(out: OutStream, gone: () => void): LiveRows['deliver'] {
  let hasRoom: (() => void)[] = [];
  let isGone = false;
  const goOn = (): void => {
    const waiting = hasRoom;
    hasRoom = [];
    for (const resolve of waiting) resolve();
  };
  const leave = (): void => {
    if (!isGone) gone();
    isGone = true;
    goOn();
  };
  out.on('drain', goOn);
  out.on('close', leave);
  out.on('error', leave);
  return (line) => {
    if (isGone || out.write(`${JSON.stringify(line)}\n`)) return undefined;
    return new Promise<void>((resolve) => hasRoom.push(resolve));
  };
}
