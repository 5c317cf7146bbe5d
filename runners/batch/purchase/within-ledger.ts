import { concatMap, defer, EMPTY, from, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import type { PurchaseContext } from '../context/purchase-context.js';
import { pricedOf } from '../row/costs.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { stopCauses, whyDrifted } from '../stop/stop-causes.js';
import type { StopCause, Stops } from '../stop/stops.js';
import { isRead } from '../row/task.js';

/**
 * Reserves the row's price before anything of it is sent. The first row that does not fit under a cap, or whose price has
 * drifted too far, stops the run; it and all behind it stay to be done. A row that does not fit under the cap of its value stays to
 * be done alone.
 */
export function withinLedger<T>(context: PurchaseContext, row: RowInFlight): MonoTypeOperatorFunction<T> {
  const { stops, money, options } = context;
  const { facts } = row.progress;
  return (purchase) =>
    defer(() => {
      if (isRead(facts)) return purchase;
      // As the service reported prices to earlier starts.
      const drifted = whyDrifted(facts, money.prices.driftOf(pricedOf(facts)), options.maxPriceDriftPercent);
      if (drifted !== undefined) return stopped(stops, drifted);
      const price = money.prices.priceOf(pricedOf(facts));
      row.change({ price });
      const full = money.ledger.fullValue?.(price, facts);
      if (full !== undefined) return leftAt(money.full.add(full), context);
      if (!money.ledger.reserve(row.id, price, facts))
        return stopped(stops, stopCauses.capReached(money.ledger.snapshot()));
      const { shared } = money;
      if (shared === undefined) {
        money.watch?.look(facts);
        return purchase;
      }
      // Unsubscribing while the reservation is made gives it back.
      return from(shared.reserve(row.id, price)).pipe(
        concatMap((fits) => {
          if (fits) {
            money.watch?.look(facts);
            return purchase;
          }
          const fullThere = shared.whyFull?.(row.id);
          return fullThere
            ? leftAt(money.full.add(fullThere), context)
            : stopped(stops, shared.whyStop(price));
        }),
      );
    });
}

/** The row stays to be done; rows of other values go on. */
function leftAt(message: string | undefined, { events }: PurchaseContext): Observable<never> {
  if (message !== undefined) events.next({ type: 'warning', code: 'value-cap', message });
  return EMPTY;
}

function stopped(stops: Stops, cause: StopCause): Observable<never> {
  stops.stop(cause);
  return EMPTY;
}
