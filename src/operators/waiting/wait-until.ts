import { Observable, type SchedulerLike } from 'rxjs';
import { clampTimer } from '../../policy/clamp-timer.js';

/** Completes at `at` (ms since the epoch, by the scheduler), at once when that is past; also beyond what one timer can hold. */
export function waitUntil(at: number, scheduler: SchedulerLike): Observable<never> {
  return new Observable((subscriber) => {
    const step = (): void => {
      const left = at - scheduler.now();
      if (left > 0) subscriber.add(scheduler.schedule(step, clampTimer(left)));
      else subscriber.complete();
    };
    step();
  });
}
