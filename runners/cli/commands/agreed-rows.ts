import { takeRows } from '../../batch/tasks/take-rows.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { Run } from '../../batch/context/run.js';
import { isRead, type RowFacts, type Task } from '../../batch/row/task.js';
import { pricedOf } from '../../batch/row/records-of.js';
import { UsageError } from '../io/usage-error.js';
import type { RunOptions } from '../options/run-options.js';
import { formatMoney } from '../words/amounts.js';

const hint =
  'with --follow nobody knows how many such rows will come: set a cap with --max-cost or --max-cost-per-day, or agree to any price with --yes';

/** Throws `UsageError` where the options say that the rows of `--follow` have a price, and nobody has agreed to it. */
export function refusePricedRows({ kind, endpoint }: RunOptions, prices: PriceBook): void {
  if (kind === undefined) return;
  const price = prices.priceOf({ kind, endpoint: endpoint ?? '' });
  if (price === null || price === 0) return;
  throw new UsageError(
    [`--follow: a row of this kind costs ${formatMoney(price)}`],
    `${hint}; nothing was sent`,
  );
}

/** The tasks of rows that arrive, up to the first one that has a price where nobody has agreed to any: it stops the run unsent. */
export function agreedRows(isAgreed: boolean, take = takeRows): typeof takeRows {
  if (isAgreed) return take;
  return async function* (run: Run): AsyncGenerator<Task, void, void> {
    let sent = 0;
    for await (const task of take(run)) {
      if (task.what === 'send') {
        const price = priceOf(run, task.row);
        if (price > 0 && run.ledger.snapshot().cap === undefined) {
          const row = `row ${JSON.stringify(task.row.id)} costs ${formatMoney(price)}`;
          return void run.stops.stop(
            stopCauses.notAgreed(`${row}, and nobody has agreed to it: ${hint}`, sent > 0),
          );
        }
        sent++;
      }
      yield task;
    }
  };
}

function priceOf({ prices }: Run, row: RowFacts): number {
  return isRead(row) ? 0 : (prices.priceOf(pricedOf(row)) ?? 0);
}
