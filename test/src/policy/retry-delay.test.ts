import { describe, expect, it } from 'vitest';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';

const most = (): number => 1;

describe('retryDelayMs', () => {
  it('is what the service asks for', () => {
    expect(retryDelayMs({ why: 'rate-limited', retryAfterMs: 7_000 }, 3, most)).toBe(7_000);
  });

  it.each([undefined, 0])(
    'is backoff when the service asks for %s: 0 is no leave to hammer',
    (retryAfterMs) => {
      expect(retryDelayMs({ why: 'rate-limited', retryAfterMs }, 3, most)).toBe(2_000);
    },
  );

  it('takes other limits', () => {
    expect(retryDelayMs({ why: 'transient' }, 9, most, { initialMs: 1, factor: 2, maxMs: 5 })).toBe(5);
  });

  it('gives a first worker 5 to 10 s to start', () => {
    expect(retryDelayMs({ why: 'no-workers' }, 1, () => 0)).toBe(5_000);
    expect(retryDelayMs({ why: 'no-workers' }, 4, most)).toBe(10_000);
  });
});
