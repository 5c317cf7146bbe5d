import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';

/**
 * The clock of a run that jumps neither forwards nor back: the wall clock of its beginning, and the time that has passed since.
 * A wall clock that is set forward by an hour would end all rows in flight by their deadlines, though their jobs still run.
 *
 * @param elapsedMs ms that have passed, by a clock that nobody sets
 */
export function runClock(
  wall: SchedulerLike = asyncScheduler,
  elapsedMs: () => number = () => performance.now(),
): SchedulerLike {
  const begunAt = wall.now() - elapsedMs();
  return { ...timersOf(wall), now: () => Math.floor(begunAt + elapsedMs()) };
}

/**
 * The clock of a worker: it never goes back. When the wall clock is set back, it continues from the latest time it returned.
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
    ...timersOf(wall),
  };
}

/** The same clock, so many milliseconds ahead. */
export function clockAhead(wall: SchedulerLike, byMs: number): SchedulerLike {
  return { ...timersOf(wall), now: () => Math.floor(wall.now() + byMs) };
}

function timersOf(wall: SchedulerLike): Pick<SchedulerLike, 'schedule'> {
  return {
    schedule: <T>(
      work: (this: SchedulerAction<T>, state?: T) => void,
      delay?: number,
      state?: T,
    ): Subscription => wall.schedule(work, delay, state),
  };
}
