import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';

/**
 * The clock of a run: it never goes back. Where the wall clock is set back, it goes on from the latest time it told:
 * polls that were due in a minute are not due in an hour, when the service has forgotten the result.
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
