import { lastValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { JobError } from '../../../src/operators/job-error.js';
import { toOutput } from '../../../src/operators/to-outcome.js';
import { jobEvents as events, failed, settled } from '../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('toOutput', () => {
  it('gives the output of a completed job', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('s-aq-d-|', events);
      expectObservable(job.pipe(toOutput())).toBe('-----(o|)', { o: 'out' });
      expectSubscriptions(job.subscriptions).toBe('^----!');
    });
  });

  it('errors with what is known of a failure', async () => {
    const failure = failed('unknown', 'maybe', { jobId: 'j1', message: 'POST /v2/e/run: reset' });
    const error: unknown = await lastValueFrom(of(settled(failure)).pipe(toOutput())).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(JobError);
    expect(error).toMatchObject({
      name: 'JobError',
      code: 'unknown',
      paid: 'maybe',
      jobId: 'j1',
      message: 'POST /v2/e/run: reset',
      outcome: failure,
    });
  });

  it('passes on never, empty and an error, and unsubscribes early', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      expectObservable(cold<JobEvent<string>>('s--', events).pipe(toOutput())).toBe('---');
      expectObservable(cold<JobEvent<string>>('s-|', events).pipe(toOutput())).toBe('--|');
      expectObservable(cold<JobEvent<string>>('s-#', events).pipe(toOutput())).toBe('--#');
      const job = cold<JobEvent<string>>('s----d|', events);
      expectObservable(job.pipe(toOutput()), '^-!').toBe('---');
      expectSubscriptions(job.subscriptions).toBe('^-!');
    });
  });
});
