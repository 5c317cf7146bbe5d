import { Observable, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';
import { clampTimer } from '../../policy/clamp-timer.js';

interface Appointment {
  /** In ms since the epoch, by the scheduler. */
  readonly at: number;
  readonly scheduler: SchedulerLike;
  readonly work: () => void;
}

/** Does something at a point in time, also beyond what one timer can hold; not when unsubscribed before. */
export function callAt(at: number, scheduler: SchedulerLike, work: () => void): Subscription {
  return scheduler.schedule<Appointment>(keep, clampTimer(at - scheduler.now()), { at, scheduler, work });
}

function keep(this: SchedulerAction<Appointment>, appointment?: Appointment): void {
  if (appointment === undefined) return;
  const { at, scheduler, work } = appointment;
  const left = at - scheduler.now();
  if (left > 0) this.schedule(appointment, clampTimer(left));
  else work();
}

/** Completes at `at` (ms since the epoch, by the scheduler), at once when that is past; also beyond what one timer can hold. */
export function waitUntil(at: number, scheduler: SchedulerLike): Observable<never> {
  return new Observable((subscriber) => {
    if (at <= scheduler.now()) return subscriber.complete();
    return callAt(at, scheduler, () => subscriber.complete());
  });
}
