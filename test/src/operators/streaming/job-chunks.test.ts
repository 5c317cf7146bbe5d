import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { jobChunks } from '../../../../src/operators/streaming/read-chunks.js';
import { jobEvents as events, failed, jobOver, settled } from '../../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

const values = {
  ...events,
  x: settled(failed('rejected', 'no')),
  t: settled(failed('deadline', 'maybe')),
} satisfies Record<string, JobEvent<string>>;

describe('jobChunks', () => {
  it('reads as soon as the id is known, once, and ends when both have', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('s-a--d|', values);
      const chunks = cold('                 -1-2---|');
      const asked: string[] = [];
      const all = jobChunks(jobOver(job, 'j'), (id) => {
        asked.push(id);
        return chunks;
      });
      expectObservable(all).toBe('-1-2---|');
      expectSubscriptions(job.subscriptions).toBe('^-----!');
      flush();
      expect(asked).toStrictEqual(['j']);
    });
  });

  it('passes on never, empty, and the error of either', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const over = (job: string, chunks: string) =>
        jobChunks(jobOver(cold<JobEvent<string>>(job, values), 'j'), () => cold(chunks));
      expectObservable(over('-', '-1')).toBe('-');
      expectObservable(over('-|', '-1')).toBe('-|');
      expectObservable(over('s-#', '-1-2-')).toBe('-1#');
      expectObservable(over('s---', '-1-#')).toBe('-1-#');
    });
  });

  it('leaves a failure that the service knows of to the chunks', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const job = cold<JobEvent<string>>('a-f|', values);
      expectObservable(jobChunks(jobOver(job, 'j'), () => cold('-1--2#'))).toBe('-1--2#');
    });
  });

  it('fails with a job that has no id, or that chunks say nothing of', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const error = (code: string) => expect.objectContaining({ name: 'JobError', code });
      const refused = jobOver(cold<JobEvent<string>>('s-x|', values));
      expectObservable(jobChunks(refused, () => cold('-1'))).toBe('--#', undefined, error('rejected'));
      const late = jobOver(cold<JobEvent<string>>('a-t|', values), 'j');
      expectObservable(jobChunks(late, () => cold('-1---2'))).toBe('-1#', undefined, error('deadline'));
    });
  });

  it('unsubscribes both', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('a-----', values);
      const chunks = cold('-1--2');
      expectObservable(
        jobChunks(jobOver(job, 'j'), () => chunks),
        '^--!',
      ).toBe('-1-');
      expectSubscriptions(job.subscriptions).toBe('^--!');
      expectSubscriptions(chunks.subscriptions).toBe('^--!');
    });
  });
});
