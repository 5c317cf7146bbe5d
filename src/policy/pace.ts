import type { SchedulerLike } from 'rxjs';
import { InvalidOptionError } from '../contract/invalid-option-error.js';

/** Above 50 a second, timers are too coarse to space single requests: lateness up to this many ms is made up for. */
const latenessMs = 20;

/** A rate: a token bucket that holds one token, so that no second ever sees a burst on top of its share. */
export interface Pace {
  /** Milliseconds until the next may pass, 0 for now, when `ahead` others go first. */
  waitMs(ahead?: number): number;
  take(): void;
}

export function createPace(ratePerSecond: number, scheduler: SchedulerLike): Pace {
  if (!(ratePerSecond > 0 && ratePerSecond < Infinity))
    throw new InvalidOptionError('ratePerSecond', `is no number above 0 (got ${ratePerSecond})`);
  const intervalMs = 1000 / ratePerSecond;
  const toleranceMs = intervalMs < latenessMs ? latenessMs : 0;
  let nextAt = -Infinity;

  function due(): number {
    const now = scheduler.now();
    // A clock that was set back must not hold everything for hours.
    if (nextAt - now > intervalMs) nextAt = now + intervalMs;
    return nextAt - now;
  }

  return {
    waitMs: (ahead = 0) => Math.max(due() + ahead * intervalMs, 0),
    take() {
      nextAt = scheduler.now() + Math.max(due(), -toleranceMs) + intervalMs;
    },
  };
}
