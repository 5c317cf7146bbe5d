import {
  concat,
  defer,
  EMPTY,
  takeUntil,
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

/** Gives the source up at a point in time and goes on with something else. A source that ends before is passed through. */
export function deadline<T>({ at, otherwise, scheduler }: DeadlineConfig<T>): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      let late = false;
      const due = concat(
        waitUntil(at, scheduler),
        defer(() => [(late = true)]),
      );
      return concat(
        source.pipe(takeUntil(due)),
        defer(() => (late ? otherwise() : EMPTY)),
      );
    });
}
