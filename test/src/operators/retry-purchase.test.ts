import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { retryPurchase } from '../../../src/operators/retry-purchase.js';
import { jobEvents as events, jobOver } from '../../../src/testing/in-virtual-time.js';
import { inVirtualTime, type Virtual } from '../../support/virtual-time.js';

/** A job a call, each with its own marbles. */
const makerOf = (cold: Virtual['cold'], all: string[]) => {
  const streams = all.map((marbles) => cold<JobEvent<string>>(marbles, events));
  let made = 0;
  return { streams, make: () => jobOver(streams[made++]!), made: () => made };
};
const twice = { maxRetries: 2, codes: ['job-failed', 'unknown'] } as const;

describe('retryPurchase', () => {
  it('buys again after a listed failure that is not paid', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const { make, streams } = makerOf(cold, ['s-f|', 's-d|']);
      expectObservable(retryPurchase(make, twice)).toBe('s-s-d|', events);
      expectSubscriptions(streams[0]!.subscriptions).toBe('^--!');
      expectSubscriptions(streams[1]!.subscriptions).toBe('--^--!');
    });
  });

  it('stops at its number of purchases with the last failure', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const { make, made } = makerOf(cold, ['s-f|', 's-f|', 's-f|', 's-d|']);
      expectObservable(retryPurchase(make, twice)).toBe('s-s-s-f|', events);
      flush();
      expect(made()).toBe(3);
    });
  });

  it('never buys again what may be paid, nor a failure that is not listed', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const unanswered = makerOf(cold, ['s-m|', 's-d|']);
      expectObservable(retryPurchase(unanswered.make, twice)).toBe('s-m|', events);
      const other = makerOf(cold, ['s-f|', 's-d|']);
      expectObservable(retryPurchase(other.make, { maxRetries: 2, codes: ['rejected'] })).toBe(
        's-f|',
        events,
      );
      flush();
      expect([unanswered.made(), other.made()]).toStrictEqual([1, 1]);
    });
  });

  it('passes on never, empty, one, many and an error', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      for (const marbles of ['-', '|', '-d|', 's-a-q-d|', 's-#'])
        expectObservable(retryPurchase(() => jobOver(cold<JobEvent<string>>(marbles, events)), twice)).toBe(
          marbles,
          events,
        );
    });
  });

  it('unsubscribes the job of the moment', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const { make, streams } = makerOf(cold, ['s-f|', 's----d|']);
      expectObservable(retryPurchase(make, twice), '^---!').toBe('s-s-', events);
      expectSubscriptions(streams[1]!.subscriptions).toBe('--^-!');
    });
  });

  it.each([
    ['nothing', () => undefined, 'is not a function that returns a job (got undefined)'],
    ['a promise', () => Promise.reject(new Error('no job')), 'returned a promise: return the job itself'],
  ])('errors when make returns %s', async (_, make, problem) => {
    const outcome = retryPurchase(make as never, twice).outcome();
    await expect(outcome).rejects.toMatchObject({ code: 'invalid-option', option: 'make' });
    await expect(outcome).rejects.toThrow(problem);
  });

  it('errors when make throws', () => {
    inVirtualTime(({ expectObservable }) => {
      const broken = (): never => {
        throw new Error('broken');
      };
      expectObservable(retryPurchase(broken, twice)).toBe('#', undefined, new Error('broken'));
    });
  });
});
