import type { SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createAdaptivePace } from '../../../src/policy/adaptive-pace.js';

/** Requests that a pace lets through are answered at once by `serve`, which is asked every 5 ms. */
function playing() {
  let now = 0;
  const pace = createAdaptivePace({ now: () => now } as SchedulerLike);
  const forMs = (ms: number, serve: (nth: number) => number, most = Infinity): number => {
    let sent = 0;
    for (const end = now + ms; now < end; now += 5)
      for (let hasWaited = true; pace.waitMs() === 0 && sent < most; sent++) {
        pace.take(hasWaited);
        const status = serve(sent);
        pace.observe(status);
        if (status === 429) break;
      }
    return sent;
  };
  return { pace, forMs, rest: (ms: number) => (now += ms) };
}

const takes = (): number => 200;
const refuses = (): number => 429;

describe('an adaptive pace', () => {
  it('has no rate until a request is refused, and then less than was tried', () => {
    const { pace, forMs } = playing();
    forMs(2_000, takes, 200);
    expect(pace.ratePerSecond).toBeUndefined();
    forMs(5, refuses, 1);
    expect(pace.ratePerSecond).toBeLessThan(200);
  });

  it('doubles a first guess within seconds, and a rate that was refused twice within a quarter of a minute', () => {
    const { pace, forMs } = playing();
    let tokens = 100;
    forMs(1_000, () => (tokens-- > 0 ? 200 : 429), 101);
    const guess = pace.ratePerSecond!;
    forMs(2_000, takes);
    expect(pace.ratePerSecond).toBeGreaterThan(2 * guess);
    forMs(5, refuses, 1);
    const found = pace.ratePerSecond!;
    forMs(6_000, takes);
    expect(pace.ratePerSecond).toBeLessThan(1.2 * found);
    forMs(15_000, takes);
    expect(pace.ratePerSecond).toBeGreaterThan(2 * found);
  });

  it('does not try a rate that nobody asks for', () => {
    const { pace, forMs, rest } = playing();
    forMs(1_000, takes, 100);
    forMs(5, refuses, 1);
    const guess = pace.ratePerSecond!;
    for (let n = 0; n < 60; n++) {
      rest(1_000);
      pace.take(false);
      pace.observe(200);
    }
    expect(pace.ratePerSecond).toBeLessThanOrEqual(guess * 1.01);
  });

  it('learns nothing of the rate from a pause that was too short', () => {
    const { pace, forMs, rest } = playing();
    forMs(1_000, takes, 100);
    forMs(5, refuses, 1);
    const guess = pace.ratePerSecond;
    for (let n = 0; n < 5; n++) {
      rest(2_000);
      forMs(5, refuses, 1);
    }
    expect(pace.ratePerSecond).toBe(guess);
  });
});
