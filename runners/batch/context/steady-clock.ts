import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';

/**
 * The clock of a run: it never goes back. When the wall clock is set back, it continues from the latest time it returned.
 * Otherwise a poll that is due in a minute would wait an hour longer, and the service would have forgotten the result.
 */
export function steadyClock(wall: SchedulerLike = asyncScheduler): SchedulerLike {
  let latest = -Infinity;
  let setBackMs = 0;
  return {
    now() {
      const time = wall.now();
      setBackMs = Math.max(setBackMs, latest - time);
      latest = time + setBackMs;
      return latest;
    },
    schedule: <T>(
      work: (this: SchedulerAction<T>, state?: T) => void,
      delay?: number,
      state?: T,
    ): Subscription => wall.schedule(work, delay, state),
  };
}
