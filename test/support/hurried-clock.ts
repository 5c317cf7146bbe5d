import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';

/** A clock that goes `factor` times as fast: waits of seconds pass in a test without anybody waiting so long. */
export function hurriedClock(factor: number): SchedulerLike {
  const begin = asyncScheduler.now();
  return {
    now: () => begin + (asyncScheduler.now() - begin) * factor,
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription =>
      asyncScheduler.schedule(work, delay / factor, state),
  };
}
