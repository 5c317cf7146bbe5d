import { asyncScheduler, Observable } from 'rxjs';
import type { SchedulerAction, SchedulerLike, Subscriber } from 'rxjs';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { clampTimer } from './clamp-timer.js';
import type { PollSchedule } from './poll-schedule.js';

/**
 * Asks every `ms` milliseconds from the submission on; a job submitted longer ago is asked for at once. A poll that
 * takes longer than `ms` swallows the times that fall into it.
 */
export function fixed(ms: number, scheduler: SchedulerLike = asyncScheduler): PollSchedule {
  if (!(ms > 0)) throw new InvalidOptionError('fixed(ms)', `is no number above 0 (got ${ms})`);
  function ask(this: SchedulerAction<Subscriber<void>>, times?: Subscriber<void>): void {
    times?.next();
    this.schedule(times, clampTimer(ms));
  }
  return {
    pollTimes: ({ submittedAt }) =>
      new Observable((times) =>
        scheduler.schedule(ask, clampTimer(submittedAt + ms - scheduler.now()), times),
      ),
    observe: () => undefined,
  };
}
