import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../../src/contract/millrace-error.js';
import { createRateLimiter } from '../../../../src/policy/gates/rate-limiter.js';

function clock(): { scheduler: Parameters<typeof createRateLimiter>[1]; set: (ms: number) => void } {
  let nowMs = 0;
  return {
    scheduler: { now: () => nowMs } as Parameters<typeof createRateLimiter>[1],
    set: (ms) => (nowMs = ms),
  };
}

describe('a rate limiter', () => {
  it('lets the first pass at once and spaces the others evenly', () => {
    const { scheduler, set } = clock();
    const limiter = createRateLimiter(5, scheduler);
    expect(limiter.waitMs()).toBe(0);
    limiter.take();
    expect([limiter.waitMs(), limiter.waitMs(2)]).toEqual([200, 600]);
    set(150);
    expect(limiter.waitMs()).toBe(50);
  });

  it('saves nothing up: after a rest there is no burst', () => {
    const { scheduler, set } = clock();
    const limiter = createRateLimiter(5, scheduler);
    limiter.take();
    set(60_000);
    limiter.take();
    expect(limiter.waitMs()).toBe(200);
  });

  it.each([15, 40, 1_000])(
    'makes up for the lateness of timers that those in line wait for, at %d a second',
    (rate) => {
      const { scheduler, set } = clock();
      const limiter = createRateLimiter(rate, scheduler);
      let sent = 0;
      for (let nowMs = 0; nowMs < 10_000; nowMs += 30) {
        set(nowMs);
        for (; limiter.waitMs() === 0; sent++) limiter.take(true);
      }
      expect(sent).toBeGreaterThan(9.8 * rate);
      expect(sent).toBeLessThanOrEqual(10.2 * rate + 1);
    },
  );

  it('makes up for no more than a fifth of a second', () => {
    const { scheduler, set } = clock();
    const limiter = createRateLimiter(100, scheduler);
    limiter.take();
    set(5_000);
    let sent = 0;
    for (; limiter.waitMs() === 0; sent++) limiter.take(true);
    expect(sent).toBe(21);
  });

  it('is not held for an hour by a clock that is set back', () => {
    const { scheduler, set } = clock();
    const limiter = createRateLimiter(5, scheduler);
    set(3_600_000);
    limiter.take();
    set(0);
    expect(limiter.waitMs()).toBe(200);
  });

  it.each([0, -1, Infinity, Number.NaN])('refuses %d a second', (rate) => {
    expect(() => createRateLimiter(rate, clock().scheduler)).toThrow(InvalidOptionError);
  });
});
