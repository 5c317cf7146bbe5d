import {
  Observable,
  retry,
  throwError,
  timer,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
} from 'rxjs';
import { clampTimer } from '../../policy/clamp-timer.js';

export interface BackoffConfig<T> {
  /**
   * How long to wait before the source is subscribed again, in ms; `undefined`: not again, the error goes on.
   * `failures` counts from 1.
   */
  delayMs: (error: unknown, failures: number) => number | undefined;
  /** What subscribers are told of a wait. */
  waiting: (forMs: number, error: unknown) => T;
  scheduler: SchedulerLike;
}

/**
 * Subscribes again after an error, each time after a wait that is told downstream. For sources that are free to repeat:
 * a purchase is none.
 */
export function retryWithBackoff<T>({
  delayMs,
  waiting,
  scheduler,
}: BackoffConfig<T>): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable((subscriber) => {
      const delay = (error: unknown, failures: number) => {
        const forMs = delayMs(error, failures);
        if (forMs === undefined) return throwError(() => error);
        subscriber.next(waiting(forMs, error));
        return timer(clampTimer(forMs), scheduler);
      };
      return source.pipe(retry({ delay })).subscribe(subscriber);
    });
}
