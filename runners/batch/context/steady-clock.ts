import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { timersOf } from '../../../src/policy/client-clock.js';

/**
 * The clock of a run. It jumps neither forward nor back: it is the wall clock at the beginning plus the time that has
 * passed since. If the wall clock were used and set forward by an hour, all rows in flight would reach their deadlines,
 * though their jobs still run.
 *
 * @param elapsedMs a monotonic clock, in ms
 */
export function runClock(
  wall: SchedulerLike = asyncScheduler,
  elapsedMs: () => number = () => performance.now(),
): SchedulerLike {
  const begunAt = wall.now() - elapsedMs();
  return { ...timersOf(wall), now: () => Math.floor(begunAt + elapsedMs()) };
}

/** The same clock, ahead by this many milliseconds. */
export function clockAhead(wall: SchedulerLike, byMs: number): SchedulerLike {
  return { ...timersOf(wall), now: () => Math.floor(wall.now() + byMs) };
}
