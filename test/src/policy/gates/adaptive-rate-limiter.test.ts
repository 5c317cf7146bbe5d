import type { SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { AdaptiveRateLimiter } from '../../../../src/policy/gates/adaptive-rate-limiter.js';
import { seeded } from '../../../support/seeded.js';

/** Requests that a limiter lets through are answered at once by `serve`, which is asked every 5 ms:
 * 200 a second at most. */
function playing() {
  let now = 0;
  const limiter = new AdaptiveRateLimiter({ now: () => now } as SchedulerLike);
  const rates: (number | undefined)[] = [];
  const forMs = (ms: number, isTaken: (nth: number) => boolean, most = Infinity): number => {
    let sent = 0;
    for (const end = now + ms; now < end; now += 5)
      if (limiter.waitMs() === 0 && sent < most) {
        limiter.take(true);
        limiter.observe(!isTaken(sent++));
        rates.push(limiter.ratePerSecond);
      }
    return sent;
  };
  return { limiter, forMs, rates, rest: (ms: number) => (now += ms) };
}

const takes = (): boolean => true;
const refuses = (): boolean => false;

describe('an adaptive rate limiter', () => {
  it('has no rate while nothing is refused, nor after a single refusal', () => {
    const { limiter, forMs } = playing();
    forMs(2_000, takes);
    expect(limiter.ratePerSecond).toBeUndefined();
    forMs(5, refuses);
    expect(limiter.ratePerSecond).toBeUndefined();
  });

  it('has one below what was tried once several are refused', () => {
    const { limiter, forMs } = playing();
    forMs(2_000, takes);
    forMs(15, refuses);
    expect(limiter.ratePerSecond).toBeLessThan(200);
    expect(limiter.ratePerSecond).toBeGreaterThan(50);
  });

  it('begins anew below what got through when the endpoint as a whole pauses', () => {
    const { limiter, forMs } = playing();
    forMs(2_000, takes);
    limiter.take();
    limiter.observe(true, true);
    expect(limiter.ratePerSecond).toBeLessThan(200);
  });

  it('doubles a first guess within seconds', () => {
    const { limiter, forMs } = playing();
    forMs(1_000, takes);
    forMs(15, refuses);
    const guess = limiter.ratePerSecond!;
    forMs(4_000, takes);
    expect(limiter.ratePerSecond).toBeGreaterThan(2 * guess);
  });

  it('does not try a rate that nobody asks for', () => {
    const { limiter, forMs, rest } = playing();
    forMs(1_000, takes);
    forMs(15, refuses);
    const guess = limiter.ratePerSecond!;
    for (let n = 0; n < 60; n++) {
      rest(1_000);
      limiter.take(false);
      limiter.observe(false);
    }
    expect(limiter.ratePerSecond).toBeLessThanOrEqual(guess * 1.01);
  });

  it('learns nothing of the rate from a pause that was too short', () => {
    const { limiter, forMs, rest } = playing();
    forMs(1_000, takes);
    forMs(15, refuses);
    const guess = limiter.ratePerSecond;
    for (let n = 0; n < 5; n++) {
      rest(2_000);
      limiter.take();
      limiter.observe(true, true);
    }
    expect(limiter.ratePerSecond).toBe(guess);
  });

  it('takes back what did not help: refusals at random', () => {
    const { forMs, rates } = playing();
    const random = seeded(1);
    forMs(20_000, () => random() >= 0.1);
    const free = rates.filter((rate) => rate === undefined).length;
    expect(free / rates.length).toBeGreaterThan(0.8);
  });

  it('outlives a clock that goes back', () => {
    const { forMs, rest, limiter } = playing();
    forMs(2_000, takes);
    forMs(15, refuses);
    rest(-3_600_000);
    expect(forMs(20_000, takes)).toBeGreaterThan(1_000);
    expect(limiter.ratePerSecond).toBeGreaterThan(100);
  });
});
