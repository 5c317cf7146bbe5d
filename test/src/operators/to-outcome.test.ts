import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { InvalidInputError } from '../../../src/operators/job-error.js';
import { asInvalidRow, toOutcome } from '../../../src/operators/to-outcome.js';
import { completed, jobEvents as events, failed } from '../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('toOutcome', () => {
  it('gives the one outcome and completes, without waiting for the job to', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('s-aq-d-|', events);
      expectObservable(job.pipe(toOutcome())).toBe('-----(d|)', { d: completed('out') });
      expectSubscriptions(job.subscriptions).toBe('^----!');
      expectObservable(cold<JobEvent<string>>('s-f|', events).pipe(toOutcome())).toBe('--(f|)', {
        f: failed('job-failed', 'no'),
      });
    });
  });

  it('passes on never, empty, and what is no failure of a row', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(cold<JobEvent<string>>('s--', events).pipe(toOutcome())).toBe('---');
      expectObservable(cold<JobEvent<string>>('s-|', events).pipe(toOutcome())).toBe('--|');
      expectObservable(cold<JobEvent<string>>('s-#', events).pipe(toOutcome())).toBe('--#');
    });
  });

  it('takes an input that is not of its schema as an outcome', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const job = cold<JobEvent<string>>('-#', undefined, new InvalidInputError('images: needs at least 1'));
      const outcome = {
        status: 'failed',
        code: 'invalid-row',
        paid: 'no',
        message: 'images: needs at least 1',
      };
      expectObservable(job.pipe(toOutcome())).toBe('-(i|)', { i: outcome });
    });
    expect(asInvalidRow(new Error('other'))).toBeUndefined();
  });

  it('unsubscribes early', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('s----d|', events);
      expectObservable(job.pipe(toOutcome()), '^-!').toBe('---');
      expectSubscriptions(job.subscriptions).toBe('^-!');
    });
  });
});
