import {
  BehaviorSubject,
  combineLatest,
  defer,
  distinctUntilChanged,
  finalize,
  map,
  tap,
  type Observable,
} from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';

/** So many are kept in memory at once. */
const mostPolled = 1_000;

/**
 * Jobs of earlier starts are all asked for, however few slots there are: where some of them take long, the results of those
 * behind them would be gone. One slot beside them is left for rows of this start.
 */
export class BesidePolls {
  private readonly polled = new BehaviorSubject(0);
  private readonly missing = new BehaviorSubject(0);

  /** Counts a job of an earlier start while it is asked for. */
  counted<T>(polling: Observable<T>): Observable<T> {
    return defer(() => {
      this.polled.next(this.polled.value + 1);
      return polling.pipe(finalize(() => this.polled.next(this.polled.value - 1)));
    });
  }

  /** Counts a row while the service says that it does not know its job: it waits for up to a minute. */
  freed(row: Observable<JobEvent<unknown>>): Observable<JobEvent<unknown>> {
    return defer(() => {
      let isMissing = false;
      const note = (isNow: boolean): void => {
        if (isNow !== isMissing) this.missing.next(this.missing.value + (isNow ? 1 : -1));
        isMissing = isNow;
      };
      return row.pipe(
        tap((event) => note(event.type === 'waiting' && event.why === 'not-found')),
        finalize(() => note(false)),
      );
    });
  }

  /**
   * How many tasks may go on at once. Rows whose job is missing hold no slot, up to as many as there are: a service that knows
   * none of its jobs is not sold more than twice as many.
   */
  slots(limit$: Observable<number>): Observable<number> {
    return combineLatest([limit$, this.polled, this.missing]).pipe(
      map(([limit, polled, missing]) =>
        Math.max(limit + Math.min(missing, limit), Math.min(polled, mostPolled) + 1),
      ),
      distinctUntilChanged(),
    );
  }
}
