import { defer, EMPTY, expand, ignoreElements, timer, type Observable, type SchedulerLike } from 'rxjs';
import { clampTimer } from '../../policy/clamp-timer.js';

/** Completes at `at` (ms since the epoch, by the scheduler), at once when that is past; also beyond what one timer can hold. */
export function waitUntil(at: number, scheduler: SchedulerLike): Observable<never> {
  const step = () => {
    const left = at - scheduler.now();
    return left > 0 ? timer(clampTimer(left), scheduler) : EMPTY;
  };
  return defer(step).pipe(expand(step), ignoreElements());
}
