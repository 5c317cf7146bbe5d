import type { SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createAdaptivePace } from '../../../src/policy/adaptive-pace.js';
import { seeded } from '../../support/seeded.js';

/** Requests that a pace lets through are answered at once by `serve`, which is asked every 5 ms:
 * 200 a second at most. */
function playing() {
  let now = 0;
  const pace = createAdaptivePace({ now: () => now } as SchedulerLike);
  const rates: (number | undefined)[] = [];
  const forMs = (ms: number, isTaken: (nth: number) => boolean, most = Infinity): number => {
    let sent = 0;
    for (const end = now + ms; now < end; now += 5)
      if (pace.waitMs() === 0 && sent < most) {
        pace.take(true);
        pace.observe(!isTaken(sent++));
        rates.push(pace.ratePerSecond);
      }
    return sent;
  };
  return { pace, forMs, rates, rest: (ms: number) => (now += ms) };
}

const takes = (): boolean => true;
const refuses = (): boolean => false;

describe('an adaptive pace', () => {
  it('has no rate while nothing is refused, nor after a single refusal', () => {
    const { pace, forMs } = playing();
    forMs(2_000, takes);
    expect(pace.ratePerSecond).toBeUndefined();
    forMs(5, refuses);
    expect(pace.ratePerSecond).toBeUndefined();
  });

  it('has one below what was tried once several are refused', () => {
    const { pace, forMs } = playing();
    forMs(2_000, takes);
    forMs(15, refuses);
    expect(pace.ratePerSecond).toBeLessThan(200);
    expect(pace.ratePerSecond).toBeGreaterThan(50);
  });

  it('begins anew below what got through when the endpoint as a whole pauses', () => {
    const { pace, forMs } = playing();
    forMs(2_000, takes);
    pace.take();
    pace.observe(true, true);
    expect(pace.ratePerSecond).toBeLessThan(200);
  });

  it('doubles a first guess within seconds', () => {
    const { pace, forMs } = playing();
    forMs(1_000, takes);
    forMs(15, refuses);
    const guess = pace.ratePerSecond!;
    forMs(4_000, takes);
    expect(pace.ratePerSecond).toBeGreaterThan(2 * guess);
  });

  it('does not try a rate that nobody asks for', () => {
    const { pace, forMs, rest } = playing();
    forMs(1_000, takes);
    forMs(15, refuses);
    const guess = pace.ratePerSecond!;
    for (let n = 0; n < 60; n++) {
      rest(1_000);
      pace.take(false);
      pace.observe(false);
    }
    expect(pace.ratePerSecond).toBeLessThanOrEqual(guess * 1.01);
  });

  it('learns nothing of the rate from a pause that was too short', () => {
    const { pace, forMs, rest } = playing();
    forMs(1_000, takes);
    forMs(15, refuses);
    const guess = pace.ratePerSecond;
    for (let n = 0; n < 5; n++) {
      rest(2_000);
      pace.take();
      pace.observe(true, true);
    }
    expect(pace.ratePerSecond).toBe(guess);
  });

  it('takes back what did not help: refusals at random', () => {
    const { forMs, rates } = playing();
    const random = seeded(1);
    forMs(20_000, () => random() >= 0.1);
    const free = rates.filter((rate) => rate === undefined).length;
    expect(free / rates.length).toBeGreaterThan(0.8);
  });

  it('outlives a clock that goes back', () => {
    const { forMs, rest, pace } = playing();
    forMs(2_000, takes);
    forMs(15, refuses);
    rest(-3_600_000);
    expect(forMs(20_000, takes)).toBeGreaterThan(1_000);
    expect(pace.ratePerSecond).toBeGreaterThan(100);
  });
});
