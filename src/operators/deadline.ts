import {
  concat,
  defer,
  EMPTY,
  Observable,
  takeUntil,
  type MonoTypeOperatorFunction,
  type ObservableInput,
  type SchedulerAction,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';
import { clampTimer } from '../policy/client-clock.js';

export interface DeadlineConfig<T> {
  /** In ms since the epoch, by the scheduler. If it is past, the source is not subscribed at all. */
  at: number;
  /** The stream to continue with if the source has not ended by then. */
  otherwise: () => ObservableInput<T>;
  scheduler: SchedulerLike;
}

/**
 * Unsubscribes from the source at a point in time and continues with another stream, unless the source ends earlier. It is a
 * `timeout` for a whole stream.
 */
export function deadline<T>({ at, otherwise, scheduler }: DeadlineConfig<T>): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      if (at <= scheduler.now()) return otherwise();
      let isDue = false;
      const due = new Observable<void>((subscriber) =>
        callAt(at, scheduler, () => {
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

interface Call {
  readonly at: number;
  readonly scheduler: SchedulerLike;
  readonly work: () => void;
}

/**
 * Calls a function at a point in time (ms since the epoch, by the scheduler), even if that is beyond the range of one
 * timer or the clock is set back.
 */
export function callAt(at: number, scheduler: SchedulerLike, work: () => void): Subscription {
  return scheduler.schedule<Call>(wait, clampTimer(at - scheduler.now()), { at, scheduler, work });
}

function wait(this: SchedulerAction<Call>, call?: Call): void {
  if (call === undefined) return;
  const { at, scheduler, work } = call;
  const left = at - scheduler.now();
  if (left > 0) this.schedule(call, clampTimer(left));
  else work();
}
