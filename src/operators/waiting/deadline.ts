import {
  from,
  Observable,
  type MonoTypeOperatorFunction,
  type ObservableInput,
  type SchedulerLike,
} from 'rxjs';
import { waitUntil } from './wait-until.js';

export interface DeadlineConfig<T> {
  /** In ms since the epoch, by the scheduler. With a time that is past the source is not subscribed at all. */
  at: number;
  /** What follows when the source has not ended by then. */
  otherwise: () => ObservableInput<T>;
  scheduler: SchedulerLike;
}

/**
 * Gives the source up at a point in time and goes on with something else. A source that ends before is passed through;
 * one that ends at once sets no timer.
 */
export function deadline<T>({ at, otherwise, scheduler }: DeadlineConfig<T>): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable((subscriber) => {
      const giveUp = (): void => {
        try {
          from(otherwise()).subscribe(subscriber);
        } catch (error) {
          subscriber.error(error);
        }
      };
      if (at <= scheduler.now()) return giveUp();
      const running = source.subscribe({
        next: (value) => subscriber.next(value),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
      subscriber.add(running);
      if (subscriber.closed) return;
      const due = waitUntil(at, scheduler).subscribe({
        complete() {
          running.unsubscribe();
          giveUp();
        },
      });
      subscriber.add(due);
    });
}
