import {
  BehaviorSubject,
  combineLatest,
  defer,
  distinctUntilChanged,
  finalize,
  map,
  type Observable,
} from 'rxjs';

/** So many are kept in memory at once. */
const mostPolled = 1_000;

/**
 * Jobs of earlier starts are all asked for, however few slots there are: where some of them take long, the results of those
 * behind them would be gone. One slot beside them is left for rows of this start.
 */
export class BesidePolls {
  private readonly polled = new BehaviorSubject(0);

  /** Counts a job of an earlier start while it is asked for. */
  counted<T>(polling: Observable<T>): Observable<T> {
    return defer(() => {
      this.polled.next(this.polled.value + 1);
      return polling.pipe(finalize(() => this.polled.next(this.polled.value - 1)));
    });
  }

  /** How many tasks may go on at once. */
  slots(limit$: Observable<number>): Observable<number> {
    return combineLatest([limit$, this.polled]).pipe(
      map(([limit, polled]) => Math.max(limit, Math.min(polled, mostPolled) + 1)),
      distinctUntilChanged(),
    );
  }
}
