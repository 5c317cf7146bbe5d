import { describe, expect, it } from 'vitest';
import {
  createCircuitBreaker,
  createCountdown,
  AnswerWindow,
} from '../../../../src/policy/gates/circuit-breaker.js';
import { seeded } from '../../../support/seeded.js';

function setUp() {
  let nowMs = 0;
  const scheduler = { now: () => nowMs } as Parameters<typeof createCircuitBreaker>[0];
  const breaker = createCircuitBreaker(scheduler, () => 1);
  const observe = (status: number, retryAfterMs?: number) =>
    breaker.observe({ status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  return {
    breaker,
    pass: (ms: number) => (nowMs += ms),
    observe,
    /** Ten answers, half of the twenty that are looked at. */
    refuse: (status = 429, retryAfterMs?: number) =>
      Array.from({ length: 10 }, () => observe(status, retryAfterMs)).at(-1),
  };
}

describe('a circuit breaker', () => {
  it('does not exist while answers are good', () => {
    const { breaker, observe } = setUp();
    for (const status of [200, 400, 401, 404]) expect(observe(status)).toBeUndefined();
    expect(breaker.blocked()).toBeUndefined();
  });

  it('does not begin with a single refusal: that request waits by itself [fault 4]', () => {
    const { breaker, observe } = setUp();
    for (let n = 0; n < 9; n++) expect(observe(429, 7_000)).toBeUndefined();
    expect(breaker.blocked()).toBeUndefined();
  });

  it('does not begin while fewer than half of the latest 20 answers are refusals', () => {
    const { breaker, observe } = setUp();
    for (let n = 0; n < 400; n++) observe(n % 5 < 2 ? 429 : 200);
    expect(breaker.blocked()).toBeUndefined();
  });

  it('begins when half of the latest 20 are, and is as long as Retry-After says', () => {
    const { breaker, pass, observe, refuse } = setUp();
    for (let n = 0; n < 200; n++) observe(200);
    expect(refuse(429, 7_000)).toBe('paused');
    expect(breaker.blocked()).toEqual({ why: 'rate-limited', forMs: 7_000 });
    pass(7_000);
    expect(breaker.blocked()).toBeUndefined();
  });

  it('hardly ever begins by chance where 30 % are refused at random [fault 4a]', () => {
    const { breaker, pass, observe } = setUp();
    const random = seeded(3);
    let pauses = 0;
    for (let n = 0; n < 10_000; n++) {
      if (breaker.blocked() !== undefined) pass(60_000);
      if (observe(random() < 0.3 ? 429 : 200) === 'paused') pauses += 1;
    }
    expect(pauses).toBeLessThan(10);
  });

  it('begins with 503s that name a time as well, and not with a single one', () => {
    const { breaker, observe, refuse } = setUp();
    expect(observe(503, 2_000)).toBeUndefined();
    refuse(503, 2_000);
    expect(breaker.blocked()).toEqual({ why: 'rate-limited', forMs: 2_000 });
  });

  it.each([undefined, 0])('is backoff when Retry-After is %s, and longer each time', (retryAfterMs) => {
    const { breaker, pass, observe, refuse } = setUp();
    refuse(429, retryAfterMs);
    for (const forMs of [500, 1_000, 2_000]) {
      expect(breaker.blocked()).toEqual({ why: 'rate-limited', forMs });
      pass(forMs);
      expect(observe(429, retryAfterMs)).toBe('paused');
    }
  });

  it('is one pause, however many rows are refused at once [fault 4]', () => {
    const { breaker, observe, refuse } = setUp();
    refuse();
    for (let i = 0; i < 15; i++) expect(observe(429)).toBeUndefined();
    expect(breaker.blocked()?.forMs).toBe(500);
  });

  it('becomes longer when one of them names a longer time, never shorter', () => {
    const { breaker, observe, refuse } = setUp();
    refuse(429, 5_000);
    expect(observe(429, 1_000)).toBeUndefined();
    expect(observe(429, 9_000)).toBe('paused');
    expect(breaker.blocked()?.forMs).toBe(9_000);
  });

  it('is followed by one probe at a time until an answer is good', () => {
    const { breaker, pass, observe, refuse } = setUp();
    refuse(429, 1_000);
    pass(1_000);
    breaker.passed();
    expect(breaker.blocked()).toEqual({ why: 'gate', forMs: 2_000 });
    expect(observe(200)).toBe('resumed');
    expect(breaker.blocked()).toBeUndefined();
    breaker.passed();
    expect(breaker.blocked()).toBeUndefined();
  });

  it('lets another probe go when one is long in coming back', () => {
    const { breaker, pass, refuse } = setUp();
    refuse(429, 1_000);
    pass(1_000);
    breaker.passed();
    pass(2_000);
    expect(breaker.blocked()).toBeUndefined();
  });

  it('begins again when the probe is refused or lost', () => {
    for (const status of [429, 500, 0]) {
      const { breaker, pass, observe, refuse } = setUp();
      refuse(429, 1_000);
      pass(1_000);
      breaker.passed();
      expect(observe(status)).toBe('paused');
      expect(breaker.blocked()?.forMs).toBe(1_000);
    }
  });

  it('is not ended by an older good answer that comes in late', () => {
    const { breaker, observe, refuse } = setUp();
    refuse(429, 1_000);
    expect(observe(200)).toBeUndefined();
    expect(breaker.blocked()?.forMs).toBe(1_000);
  });

  it('begins with a storm: five failures in a row', () => {
    const { breaker, observe } = setUp();
    for (const status of [500, 0, 502, 503]) expect(observe(status)).toBeUndefined();
    expect(observe(500)).toBe('paused');
    expect(breaker.blocked()).toEqual({ why: 'backoff', forMs: 500 });
  });

  it('does not begin when failures are mixed with good answers', () => {
    const { breaker, observe } = setUp();
    for (let i = 0; i < 20; i++) observe(i % 4 === 3 ? 200 : 500);
    expect(breaker.blocked()).toBeUndefined();
  });
});

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

function windowOf(...answers: [isRefused: boolean, times: number][]): AnswerWindow {
  const latest = new AnswerWindow();
  for (const [isRefused, times] of answers) for (let n = 0; n < times; n++) latest.add(isRefused);
  return latest;
}

describe('the window of answers', () => {
  it('is refusing from ten refusals in twenty answers on', () => {
    expect(windowOf([true, 9]).isRefusing).toBe(false);
    expect(windowOf([true, 10]).isRefusing).toBe(true);
    expect(windowOf([true, 10], [false, 10]).isRefusing).toBe(true);
    expect(windowOf([true, 10], [false, 11]).isRefusing).toBe(false);
    expect(windowOf([false, 1_000], [true, 9]).isRefusing).toBe(false);
    expect(windowOf([false, 1_000], [true, 10]).isRefusing).toBe(true);
  });

  it('forgets its answers, and keeps what is usual', () => {
    const latest = windowOf([true, 10]);
    latest.clear();
    expect(latest.isRefusing).toBe(false);
    const noisy = new AnswerWindow();
    for (let n = 0; n < 1_000; n++) noisy.add(n % 3 === 0);
    noisy.clear();
    for (let n = 0; n < 10; n++) noisy.add(true);
    expect(noisy.isRefusing).toBe(false);
    for (let n = 0; n < 8; n++) noisy.add(true);
    expect(noisy.isRefusing).toBe(true);
  });

  it('learns soon that a third is usual', () => {
    const latest = new AnswerWindow();
    for (let n = 0; n < 60; n++) latest.add(n % 3 === 0);
    for (let n = 0; n < 6; n++) latest.add(true);
    expect(latest.isRefusing).toBe(false);
    for (let n = 0; n < 8; n++) latest.add(true);
    expect(latest.isRefusing).toBe(true);
  });

  it('is refusing when nearly all are, whatever is usual', () => {
    expect(windowOf([true, 10_000]).isRefusing).toBe(true);
  });
});
