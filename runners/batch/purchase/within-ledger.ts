import { concatMap, defer, EMPTY, from, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { isBeyond, purchaseName } from './note-price.js';
import { pricedOf } from '../row/records-of.js';
import type { RowRun } from '../row/row-run.js';
import type { Run } from '../context/run.js';
import { stopCauses } from '../stop/stop-causes.js';
import { isRead } from '../row/task.js';

/**
 * Reserves the row's price before anything of it is sent. The first row that does not fit under a cap, or whose price has
 * drifted too far, stops the run; it and all behind it stay to be done.
 */
export function withinLedger<T>(run: Run, row: RowRun): MonoTypeOperatorFunction<T> {
  return (purchase) =>
    defer(() => {
      if (isRead(row.row)) return purchase;
      if (hasDrifted(run, row)) return EMPTY;
      row.price = run.prices.priceOf(pricedOf(row.row));
      if (!run.ledger.reserve(row.id, row.price)) {
        run.stops.stop(stopCauses.capReached(run.ledger.snapshot()));
        return EMPTY;
      }
      return run.day === undefined ? purchase : withinDay(run.day, run, row, purchase);
    });
}

/** Unsubscribing while the reservation is made gives it back. */
function withinDay<T>(
  day: NonNullable<Run['day']>,
  { stops }: Run,
  { id, price = null }: RowRun,
  purchase: Observable<T>,
): Observable<T> {
  return from(day.reserve(id, price)).pipe(
    concatMap((fits) => {
      if (fits) return purchase;
      stops.stop(stopCauses.dayCapReached(day.whyNot(price)));
      return EMPTY;
    }),
  );
}

/** Compares with the prices that the service reported to earlier starts. */
function hasDrifted({ prices, options, stops }: Run, { row }: RowRun): boolean {
  const { maxPriceDriftPercent } = options;
  const drift = prices.driftOf(pricedOf(row));
  if (!isBeyond(drift, maxPriceDriftPercent)) return false;
  stops.stop(stopCauses.priceDrifted(purchaseName(row), drift, maxPriceDriftPercent));
  return true;
}
