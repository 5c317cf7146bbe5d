import { describe, expect, it } from 'vitest';
import { createCountdown } from '../../../src/policy/countdown.js';

describe('a countdown', () => {
  let nowMs = 1_000;
  const scheduler = { now: () => nowMs } as Parameters<typeof createCountdown>[0];

  it('runs out, or is cleared', () => {
    const countdown = createCountdown(scheduler);
    expect(countdown.remainingMs()).toBe(0);
    countdown.start(100);
    nowMs += 40;
    expect(countdown.remainingMs()).toBe(60);
    nowMs += 100;
    expect(countdown.remainingMs()).toBe(0);
    countdown.start(100);
    countdown.clear();
    expect(countdown.remainingMs()).toBe(0);
  });

  it('begins anew when the clock is set back by an hour', () => {
    const countdown = createCountdown(scheduler);
    countdown.start(100);
    nowMs -= 3_600_000;
    expect(countdown.remainingMs()).toBe(100);
    nowMs += 100;
    expect(countdown.remainingMs()).toBe(0);
  });
});
