import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { switchJobs } from '../../../../src/operators/fan-out/switch-jobs.js';
import { jobEvents as events, jobOver } from '../../../../src/testing/marble-jobs.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

describe('switchJobs', () => {
  it('lets the latest win and cancels the one before', () => {
    inVirtualTime(({ cold, hot, flush, expectObservable, expectSubscriptions }) => {
      const rows = hot('         -1---2---|');
      const first = cold<JobEvent<string>>('s-----d|', events);
      const second = cold<JobEvent<string>>('   s-d|', events);
      const jobs = [jobOver(first), jobOver(second)];
      const result = rows.pipe(switchJobs((row) => jobs[Number(row) - 1]!));
      expectObservable(result).toBe('-s---s-d-|', events);
      expectSubscriptions(first.subscriptions).toBe('-^---!');
      expectSubscriptions(second.subscriptions).toBe('-----^--!');
      flush();
      expect(jobs.map(({ cancels }) => cancels)).toStrictEqual([1, 0]);
    });
  });

  it('passes on never, empty, one and an error', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const switching = switchJobs<string, string>(() => jobOver(cold('s-d|', events)));
      expectObservable(cold('-').pipe(switching)).toBe('-');
      expectObservable(cold('-|').pipe(switching)).toBe('-|');
      expectObservable(cold('1|').pipe(switching)).toBe('s-d|', events);
      expectObservable(cold('1#').pipe(switching)).toBe('s#', events);
      expectObservable(cold('1').pipe(switchJobs(() => jobOver(cold('-#'))))).toBe('-#');
    });
  });

  it.each([
    ['it is left', '1-----', '^--!', 's--'],
    ['its source fails', '1--#', undefined, 's--#'],
    ['project throws', '1--x', undefined, 's--#', new Error('no such row')],
  ])('cancels the last job too when %s', (_, rows, unsubscription, shown, error?: unknown) => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const stream = cold<JobEvent<string>>('s----d|', events);
      const job = jobOver(stream);
      const project = (row: string) => {
        if (row === 'x') throw new Error('no such row');
        return job;
      };
      expectObservable(cold(rows).pipe(switchJobs(project)), unsubscription).toBe(shown, events, error);
      expectSubscriptions(stream.subscriptions).toBe('^--!');
      flush();
      expect(job.cancels).toBe(1);
    });
  });

  it('cancels no job that has settled', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const job = jobOver(cold<JobEvent<string>>('s-d|', events));
      expectObservable(cold('1---|').pipe(switchJobs(() => job))).toBe('s-d-|', events);
      flush();
      expect(job.cancels).toBe(0);
    });
  });

  it('does not cancel a job that takes its own place', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const job = jobOver(cold<JobEvent<string>>('s----d|', events));
      expectObservable(cold('1-2|').pipe(switchJobs(() => job))).toBe('s-s----d|', events);
      flush();
      expect(job.cancels).toBe(0);
    });
  });

  it('errors when project throws', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const broken = (): never => {
        throw new Error('broken');
      };
      expectObservable(cold('-1').pipe(switchJobs(broken))).toBe('-#', undefined, new Error('broken'));
    });
  });
});
