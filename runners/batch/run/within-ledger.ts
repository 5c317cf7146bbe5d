import { defer, EMPTY, type MonoTypeOperatorFunction } from 'rxjs';
import { pricedOf } from './records-of.js';
import type { RowRun } from './row-run.js';
import type { Run } from './run.js';
import { stopCauses } from './stop-causes.js';
import { isRead } from './task.js';

/**
 * Reserves the row's price before anything of it is sent. The first row that does not fit under the cap stops the run; it
 * and all behind it stay to be done.
 */
export function withinLedger<T>(run: Run, row: RowRun): MonoTypeOperatorFunction<T> {
  return (purchase) =>
    defer(() => {
      if (isRead(row.row)) return purchase;
      row.price = run.prices.priceOf(pricedOf(row.row));
      if (!run.ledger.reserve(row.id, row.price)) {
        run.stops.stop(stopCauses.capReached(run.ledger.snapshot()));
        return EMPTY;
      }
      return purchase;
    });
}
