import type { SchedulerLike } from 'rxjs';
import { createPace, type Pace } from './pace.js';

/** The rate is looked for over so many ms of answers. */
const windowMs = 5_000;
/** After a refusal: this share of what got through, or of the rate that was too much. */
const share = 0.9;
/** The rate grows by so much of itself a second. */
const growth = 0.01;
/** Refusals of requests that left together are one. */
const togetherMs = 1_000;
const leastPerSecond = 0.2;

/** A pace that is found out: none until a request is refused (429), then a little less than what gets through, growing slowly. */
export interface AdaptivePace extends Pace {
  observe(status: number): void;
  /** Requests a second; `undefined` until one was refused. */
  readonly ratePerSecond: number | undefined;
}

export function createAdaptivePace(scheduler: SchedulerLike): AdaptivePace {
  const beganAt = scheduler.now();
  let taken: number[] = [];
  let pace: Pace | undefined;
  let rate: number | undefined;
  let refusedAt = -Infinity;
  let grownAt = 0;

  function measured(now: number): number {
    taken = taken.filter((at) => at > now - windowMs);
    return (taken.length * 1_000) / Math.max(Math.min(now - beganAt, windowMs), togetherMs);
  }

  function setRate(value: number): void {
    rate = Math.max(value, leastPerSecond);
    pace = createPace(rate, scheduler);
  }

  function refused(now: number): void {
    if (now - refusedAt < togetherMs) return;
    refusedAt = now;
    grownAt = now;
    setRate(share * Math.min(rate ?? Infinity, measured(now)));
    // The new pace begins with this interval, not with a request at once.
    pace?.take();
  }

  function grow(now: number): void {
    if (rate === undefined || now - grownAt < togetherMs) return;
    setRate(rate * (1 + (growth * (now - grownAt)) / 1_000));
    pace?.take();
    grownAt = now;
  }

  return {
    waitMs: (ahead) => pace?.waitMs(ahead) ?? 0,
    take: () => pace?.take(),
    get ratePerSecond() {
      return rate;
    },
    observe(status) {
      const now = scheduler.now();
      if (status === 429) return refused(now);
      if (status === 0) return;
      taken.push(now);
      if (taken.length > 2_000 && (taken[0] ?? 0) < now - windowMs) measured(now);
      grow(now);
    },
  };
}
