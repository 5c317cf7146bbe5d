import {
  concat,
  defer,
  EMPTY,
  Observable,
  takeUntil,
  type MonoTypeOperatorFunction,
  type ObservableInput,
} from 'rxjs';
import type { TimerQueue } from './timer-queue.js';

export interface DeadlineConfig<T> {
  /** In ms since the epoch, by the clock of `timers`. A source whose time is past is not subscribed at all. */
  at: number;
  /** Follows when the source has not ended by then. */
  otherwise: () => ObservableInput<T>;
  timers: TimerQueue;
}

/**
 * Unsubscribes the source at a point in time and goes on with something else; a source that ends before passes through.
 * It is `timeout` for a stream as a whole.
 */
export function deadline<T>({ at, otherwise, timers }: DeadlineConfig<T>): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      if (at <= timers.now()) return otherwise();
      let isDue = false;
      const due = new Observable<void>((subscriber) =>
        timers.callAt(at, () => {
          isDue = true;
          subscriber.next();
        }),
      );
      return concat(
        source.pipe(takeUntil(due)),
        defer(() => (isDue ? otherwise() : EMPTY)),
      );
    });
}
