import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { switchJobs } from '../../../src/operators/switch-jobs.js';
import { events, jobOver } from '../../support/job-events.js';
import { inVirtualTime } from '../../support/virtual-time.js';

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

  it('leaves the latest to its own endpoint when it is unsubscribed', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const stream = cold<JobEvent<string>>('s----d|', events);
      const job = jobOver(stream);
      expectObservable(cold('1').pipe(switchJobs(() => job)), '^--!').toBe('s--', events);
      expectSubscriptions(stream.subscriptions).toBe('^--!');
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
