import { asyncScheduler, defer, map, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { InvalidOptionError } from '../contract/invalid-option-error.js';
import { clampTimer } from './clamp-timer.js';
import type { PollSchedule } from './poll-schedule.js';

/**
 * Asks every `ms` milliseconds from the submission on; a job submitted longer ago is asked for at once. A poll that
 * takes longer than `ms` swallows the times that fall into it.
 */
export function fixed(ms: number, scheduler: SchedulerLike = asyncScheduler): PollSchedule {
  if (!(ms > 0)) throw new InvalidOptionError('fixed(ms)', `is no number above 0 (got ${ms})`);
  return {
    pollTimes: ({ submittedAt }) =>
      defer(() => timer(clampTimer(submittedAt + ms - scheduler.now()), clampTimer(ms), scheduler)).pipe(
        map(() => undefined),
      ),
    observe: () => undefined,
  };
}
