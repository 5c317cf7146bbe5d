import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ExchangeLimits } from '../../../src/transport/undici/exchange-limits.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import type { FaultPhase } from '../../../src/transport/transport-error.js';

/** Limits of an exchange that begins now, and what they say has passed. */
const begun = (overrides: Parameters<typeof phaseTimeouts>[1] = {}, body = '') => {
  const passed: FaultPhase[] = [];
  const request = { timeouts: phaseTimeouts(1_000, { readMs: 400, ...overrides }), body };
  return { passed, limits: new ExchangeLimits(request, { passed: (phase) => passed.push(phase) }) };
};

describe('ExchangeLimits', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('counts the time for the response from when the request is sent', () => {
    const { limits, passed } = begun();
    vi.advanceTimersByTime(900);
    limits.sending();
    vi.advanceTimersByTime(999);
    expect(passed).toStrictEqual([]);
    vi.advanceTimersByTime(2);
    expect(passed).toStrictEqual(['response']);
  });

  it('counts the time for the rest from the head, shorter or longer than what was left', () => {
    for (const readMs of [400, 5_000]) {
      const { limits, passed } = begun({ readMs });
      limits.sending();
      vi.advanceTimersByTime(100);
      limits.reading();
      vi.advanceTimersByTime(readMs - 1);
      expect(passed).toStrictEqual([]);
      vi.advanceTimersByTime(2);
      expect(passed).toStrictEqual(['read']);
    }
  });

  it('counts the time without a byte from the last one, within that for the rest', () => {
    const { limits, passed } = begun({ readMs: 1_000, idleMs: 300 });
    limits.sending();
    limits.reading();
    for (let part = 0; part < 3; part += 1) {
      vi.advanceTimersByTime(250);
      limits.came();
    }
    vi.advanceTimersByTime(249);
    expect(passed).toStrictEqual([]);
    vi.advanceTimersByTime(2);
    expect(passed).toStrictEqual(['read']);

    const stalled = begun({ readMs: 1_000, idleMs: 300 });
    stalled.limits.sending();
    stalled.limits.reading();
    vi.advanceTimersByTime(200);
    stalled.limits.came();
    vi.advanceTimersByTime(299);
    expect(stalled.passed).toStrictEqual([]);
    vi.advanceTimersByTime(2);
    expect(stalled.passed).toStrictEqual(['read']);
  });

  it('bounds the whole, also before anything is sent', () => {
    const { passed } = begun({ requestMs: 1_500 });
    vi.advanceTimersByTime(1_499);
    expect(passed).toStrictEqual([]);
    vi.advanceTimersByTime(2);
    expect(passed).toStrictEqual(['response']);
  });

  it('grants a large body the time for sending on top', () => {
    const { limits, passed } = begun({ sendMs: 2_000 }, 'x'.repeat(100_000));
    limits.sending();
    vi.advanceTimersByTime(2_999);
    expect(passed).toStrictEqual([]);
    vi.advanceTimersByTime(2);
    expect(passed).toStrictEqual(['response']);
  });

  it('says nothing more once it is cleared', () => {
    const { limits, passed } = begun();
    limits.sending();
    limits.clear();
    vi.advanceTimersByTime(1_000_000);
    expect(passed).toStrictEqual([]);
  });
});
