import { describe, expect, it } from 'vitest';
import { createSharedPause } from '../../../src/policy/shared-pause.js';
import type { SharedPause } from '../../../src/policy/shared-pause.js';

function setUp(): {
  pause: SharedPause;
  pass: (ms: number) => void;
  observe: (status: number, retryAfterMs?: number) => unknown;
} {
  let nowMs = 0;
  const scheduler = { now: () => nowMs } as Parameters<typeof createSharedPause>[0];
  const pause = createSharedPause(scheduler, () => 1);
  return {
    pause,
    pass: (ms) => (nowMs += ms),
    observe: (status, retryAfterMs) =>
      pause.observe({ kind: 'poll', status, ...(retryAfterMs !== undefined && { retryAfterMs }) }),
  };
}

describe('a shared pause', () => {
  it('does not exist while answers are good', () => {
    const { pause, observe } = setUp();
    for (const status of [200, 400, 401, 404]) expect(observe(status)).toBeUndefined();
    expect(pause.blocked()).toBeUndefined();
  });

  it('is as long as Retry-After says', () => {
    const { pause, pass, observe } = setUp();
    expect(observe(429, 7_000)).toBe('paused');
    expect(pause.blocked()).toEqual({ why: 'rate-limited', forMs: 7_000 });
    pass(7_000);
    expect(pause.blocked()).toBeUndefined();
  });

  it('begins with a 503 that names a time as well', () => {
    const { pause, observe } = setUp();
    expect(observe(503, 2_000)).toBe('paused');
    expect(pause.blocked()).toEqual({ why: 'rate-limited', forMs: 2_000 });
  });

  it.each([undefined, 0])('is backoff when Retry-After is %s, and longer each time', (retryAfterMs) => {
    const { pause, pass, observe } = setUp();
    for (const forMs of [500, 1_000, 2_000]) {
      expect(observe(429, retryAfterMs)).toBe('paused');
      expect(pause.blocked()).toEqual({ why: 'rate-limited', forMs });
      pass(forMs);
    }
  });

  it('is one pause, however many rows are refused at once', () => {
    const { pause, observe } = setUp();
    observe(429);
    for (let i = 0; i < 15; i++) expect(observe(429)).toBeUndefined();
    expect(pause.blocked()?.forMs).toBe(500);
  });

  it('becomes longer when one of them names a longer time, never shorter', () => {
    const { pause, observe } = setUp();
    observe(429, 5_000);
    expect(observe(429, 1_000)).toBeUndefined();
    expect(observe(429, 9_000)).toBe('paused');
    expect(pause.blocked()?.forMs).toBe(9_000);
  });

  it('is followed by one probe at a time until an answer is good', () => {
    const { pause, pass, observe } = setUp();
    observe(429, 1_000);
    pass(1_000);
    pause.passed();
    expect(pause.blocked()).toEqual({ why: 'gate', forMs: 2_000 });
    expect(observe(200)).toBe('opened');
    expect(pause.blocked()).toBeUndefined();
    pause.passed();
    expect(pause.blocked()).toBeUndefined();
  });

  it('lets another probe go when one is long in coming back', () => {
    const { pause, pass, observe } = setUp();
    observe(429, 1_000);
    pass(1_000);
    pause.passed();
    pass(2_000);
    expect(pause.blocked()).toBeUndefined();
  });

  it('begins again when the probe is refused or lost', () => {
    for (const status of [429, 500, 0]) {
      const { pause, pass, observe } = setUp();
      observe(429, 1_000);
      pass(1_000);
      pause.passed();
      expect(observe(status)).toBe('paused');
      expect(pause.blocked()?.forMs).toBe(1_000);
    }
  });

  it('is not ended by an older good answer that comes in late', () => {
    const { pause, observe } = setUp();
    observe(429, 1_000);
    expect(observe(200)).toBeUndefined();
    expect(pause.blocked()?.forMs).toBe(1_000);
  });

  it('begins with a storm: five failures in a row', () => {
    const { pause, observe } = setUp();
    for (const status of [500, 0, 502, 503]) expect(observe(status)).toBeUndefined();
    expect(observe(500)).toBe('paused');
    expect(pause.blocked()).toEqual({ why: 'backoff', forMs: 500 });
  });

  it('does not begin when failures are mixed with good answers', () => {
    const { pause, observe } = setUp();
    for (let i = 0; i < 20; i++) observe(i % 4 === 3 ? 200 : 500);
    expect(pause.blocked()).toBeUndefined();
  });
});
