import { Observable, type SchedulerLike } from 'rxjs';
import { callAt } from './call-at.js';

/** Completes at `at` (ms since the epoch, by the scheduler), at once when that is past; also beyond what one timer can hold. */
export function waitUntil(at: number, scheduler: SchedulerLike): Observable<never> {
  return new Observable((subscriber) => {
    if (at <= scheduler.now()) return subscriber.complete();
    return callAt(at, scheduler, () => subscriber.complete());
  });
}
