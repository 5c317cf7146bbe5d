import type { SchedulerLike } from 'rxjs';
import { checkNumber } from '../../contract/check-option.js';

/** The limiter makes up for timers that fire up to this many ms late, as in a busy process. */
const latenessMs = 200;

/** A token bucket with one token: there is never a burst above the rate. */
export interface RateLimiter {
  /** Requests a second; `undefined` while there is no limit. */
  readonly ratePerSecond: number | undefined;
  /** Milliseconds until a request may pass after `ahead` others; 0 if it may now. */
  waitMs(ahead?: number): number;
  /**
   * Call it when a request passes. Idle time saves up no tokens.
   * @param hasWaited whether it waited for the rate: if it passes late, the next one passes sooner
   * @param isPaused whether the endpoint pauses, and only some polls pass: the answers to these show nothing about the rate
   */
  take(hasWaited?: boolean, isPaused?: boolean): void;
}

export function createRateLimiter(ratePerSecond: number, scheduler: SchedulerLike): RateLimiter {
  checkNumber('ratePerSecond', ratePerSecond, 'finite number above 0');
  const intervalMs = 1000 / ratePerSecond;
  let nextAt = -Infinity;

  function due(): number {
    const now = scheduler.now();
    // If the clock was set back, requests must not wait for hours.
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

const slotMs = 100;
const slots = 1_000 / slotMs;

/** The rate over the last second, or a little more than a second. */
export function createLastSecond(): { add(now: number): void; perSecond(now: number): number } {
  const counts = new Map<number, number>();
  let firstAt: number | undefined;
  const slotOf = (now: number): number => Math.floor(now / slotMs);
  return {
    add(now) {
      firstAt ??= now;
      const slot = slotOf(now);
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
      for (const old of counts.keys()) {
        if (old >= slot - slots && old <= slot) break;
        counts.delete(old);
      }
    },
    perSecond(now) {
      const from = slotOf(now) - slots;
      let sum = 0;
      for (const [slot, count] of counts) if (slot >= from) sum += count;
      return (sum * 1_000) / Math.max(now - Math.max(from * slotMs, firstAt ?? now), slotMs);
    },
  };
}
