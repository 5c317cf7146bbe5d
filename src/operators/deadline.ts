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
  /** In ms since the epoch, by the scheduler. A source whose time is past is not subscribed at all. */
  at: number;
  /** Follows when the source has not ended by then. */
  otherwise: () => ObservableInput<T>;
  scheduler: SchedulerLike;
}

/**
 * Unsubscribes the source at a point in time and goes on with something else; a source that ends before passes through.
 * It is `timeout` for a stream as a whole.
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
 * Calls a function at a point in time (ms since the epoch, by the scheduler), also beyond what one timer can hold and
 * after the clock was set back.
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
