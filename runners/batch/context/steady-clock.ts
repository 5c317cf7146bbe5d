import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { timersOf } from '../../../src/policy/client-clock.js';

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

/** The same clock, so many milliseconds ahead. */
export function clockAhead(wall: SchedulerLike, byMs: number): SchedulerLike {
  return { ...timersOf(wall), now: () => Math.floor(wall.now() + byMs) };
}
