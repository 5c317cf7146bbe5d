import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRetryQuota } from '../../../src/policy/retry-quota.js';

describe('a retry quota', () => {
  it('is for a hundred retries, or fifty after timeouts [fault 5]', () => {
    const plain = createRetryQuota();
    const slow = createRetryQuota();
    for (let i = 0; i < 100; i++) expect(plain.take({ timedOut: false })).toBe(5);
    for (let i = 0; i < 50; i++) expect(slow.take({ timedOut: true })).toBe(10);
    expect(plain.take({ timedOut: false })).toBeUndefined();
    expect(slow.take({ timedOut: false })).toBeUndefined();
  });

  it('gets back what a retry that succeeds has taken, and one for any other success [fault 5]', () => {
    const quota = createRetryQuota(20);
    const taken = quota.take({ timedOut: true });
    quota.take({ timedOut: false });
    expect(quota.tokens).toBe(5);
    quota.succeeded(taken);
    expect(quota.tokens).toBe(15);
    quota.succeeded();
    expect(quota.tokens).toBe(16);
  });

  it('refuses what it has not in full', () => {
    const quota = createRetryQuota(9);
    expect(quota.take({ timedOut: true })).toBeUndefined();
    expect(quota.tokens).toBe(9);
  });

  it('keeps its state to itself', () => {
    const one = createRetryQuota();
    one.take({ timedOut: false });
    expect(createRetryQuota().tokens).toBe(500);
  });

  it('is never below nothing nor above its capacity', () => {
    const step = fc.constantFrom('retry', 'slow retry', 'success', 'success after retry');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const quota = createRetryQuota(50);
        for (const name of steps) {
          if (name === 'success') quota.succeeded();
          else if (name === 'success after retry') quota.succeeded(quota.take({ timedOut: false }) ?? 0);
          else quota.take({ timedOut: name === 'slow retry' });
          expect(quota.tokens).toBeGreaterThanOrEqual(0);
          expect(quota.tokens).toBeLessThanOrEqual(50);
        }
      }),
    );
  });
});
