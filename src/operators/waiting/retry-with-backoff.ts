import { Observable, timer, type MonoTypeOperatorFunction, type SchedulerLike } from 'rxjs';
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
export function retryWithBackoff<T>(config: BackoffConfig<T>): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable((subscriber) => {
      let failures = 0;

      function attempt(): void {
        let failed: { readonly error: unknown } | undefined;
        const running = source.subscribe({
          next: (value) => subscriber.next(value),
          error: (error: unknown) => (failed = { error }),
          complete: () => subscriber.complete(),
        });
        subscriber.add(running);
        running.add(() => {
          if (failed !== undefined) wait(failed.error);
        });
      }

      function wait(error: unknown): void {
        try {
          const forMs = config.delayMs(error, ++failures);
          if (forMs === undefined) return subscriber.error(error);
          subscriber.next(config.waiting(forMs, error));
          subscriber.add(timer(clampTimer(forMs), config.scheduler).subscribe(attempt));
        } catch (broken) {
          subscriber.error(broken);
        }
      }

      attempt();
    });
}
