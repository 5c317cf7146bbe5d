import { Subject } from 'rxjs';
import { readLiveLines } from '../../batch/manifest/read-live-lines.js';
import {
  takeRows,
  type PriceBook,
  type RowFacts,
  type Run,
  type RunBatchOptions,
  type Task,
} from '../../batch/index.js';
import type { CliIo, OutStream } from '../io/cli-io.js';
import type { SignalOrder } from '../io/listen-for-stop.js';
import { UsageError } from '../io/usage-error.js';
import type { RunOptions } from '../options/start-options.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import { isRead } from '../../batch/row/task.js';
import { pricedOf } from '../../batch/row/costs.js';
import { formatMoney } from '../messages/number-text.js';

/** Rows that arrive on stdin during the run. The result line of each goes to stdout when it ends. */
export interface LiveRows {
  readonly rows: AsyncIterable<unknown>;
  readonly deliver: NonNullable<RunBatchOptions['deliver']>;
  /** Emits when the reader of stdout is gone: the run then stops. */
  readonly stop$: Subject<SignalOrder>;
  /** Closes stdin, which may never end by itself. */
  close(): void;
}

/** Options that need the whole manifest or stdout. */
const others = ['limit', 'only', 'retry', 'json'] as const satisfies readonly (keyof RunOptions)[];

/** Takes rows from stdin for `--follow`. Throws `UsageError` for options that do not go with it. */
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

/** Writes a line and waits until the stream has room for another. Once the reader is gone nothing is written. */
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

const agreeHint =
  'with --follow nobody knows how many such rows will come: set a cap with --max-cost or --max-cost-per-day, or agree to any price with --yes';

/** Throws `UsageError` when the options imply a price for the rows of `--follow` that nobody has agreed to. */
export function refusePricedRows({ kind, endpoint }: RunOptions, prices: PriceBook): void {
  if (kind === undefined) return;
  const price = prices.priceOf({ kind, endpoint: endpoint ?? '' });
  if (price === null || price === 0) return;
  throw new UsageError(
    [`--follow: a row of this kind costs ${formatMoney(price)}`],
    `${agreeHint}; nothing was sent`,
  );
}

/** The tasks of arriving rows. Unless a price is agreed to, the first row that has one stops the run and is not sent. */
export function agreedRows(isAgreed: boolean, take = takeRows): typeof takeRows {
  if (isAgreed) return take;
  return async function* (run: Run): AsyncGenerator<Task, void, void> {
    let sent = 0;
    for await (const task of take(run)) {
      if (task.what === 'send') {
        const price = rowPrice(run, task.row);
        if (price > 0 && run.money.ledger.snapshot().cap === undefined) {
          const row = `row ${JSON.stringify(task.row.id)} costs ${formatMoney(price)}`;
          return void run.stops.stop(
            stopCauses.notAgreed(`${row}, and nobody has agreed to it: ${agreeHint}`, sent > 0),
          );
        }
        sent++;
      }
      yield task;
    }
  };
}

function rowPrice({ money: { prices } }: Run, row: RowFacts): number {
  return isRead(row) ? 0 : (prices.priceOf(pricedOf(row)) ?? 0);
}
