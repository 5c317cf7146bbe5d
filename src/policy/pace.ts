import type { SchedulerLike } from 'rxjs';
import { InvalidOptionError } from '../contract/millrace-error.js';

/** Timers ring late, and a busy process hears them later still: so much of it is made up for, in ms. */
const latenessMs = 200;

/** A rate: a token bucket that holds one token, so that no second ever sees a burst on top of its share. */
export interface Pace {
  /** Requests a second; `undefined` while there is no limit. */
  readonly ratePerSecond: number | undefined;
  /** Milliseconds until the next may pass, 0 for now, when `ahead` others go first. */
  waitMs(ahead?: number): number;
  /** @param hasWaited It stood in line: that its turn is told late is made up for. A rest saves nothing up. */
  take(hasWaited?: boolean): void;
}

export function createPace(ratePerSecond: number, scheduler: SchedulerLike): Pace {
  if (!(ratePerSecond > 0 && ratePerSecond < Infinity))
    throw new InvalidOptionError('ratePerSecond', `is no number above 0 (got ${ratePerSecond})`);
  const intervalMs = 1000 / ratePerSecond;
  let nextAt = -Infinity;

  function due(): number {
    const now = scheduler.now();
    // A clock that was set back must not hold everything for hours.
    if (nextAt - now > intervalMs) nextAt = now + intervalMs;
    return nextAt - now;
  }

  return {
    ratePerSecond,
    waitMs: (ahead = 0) => Math.max(due() + ahead * intervalMs, 0),
    take(hasWaited = false) {
      nextAt = scheduler.now() + Math.max(due(), hasWaited ? -latenessMs : 0) + intervalMs;
    },
  };
}
