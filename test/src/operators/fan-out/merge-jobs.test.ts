import { NEVER, of, range, lastValueFrom, count } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { mergeJobs } from '../../../../src/operators/fan-out/merge-jobs.js';
import { completed, jobEvents as events, settled } from '../../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

const row = (value: string, index: number) => ({ row: value, index, outcome: completed('out') });

describe('mergeJobs', () => {
  it('runs rows as slots are free, and emits in order of completion', () => {
    inVirtualTime(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const rows = hot('    -abc-|');
      const job = cold<JobEvent<string>>('--d|', events);
      const result = rows.pipe(mergeJobs(() => job, { concurrency: 2 }));
      expectObservable(result).toBe('----ab-(c|)', { a: row('a', 0), b: row('b', 1), c: row('c', 2) });
      expectSubscriptions(rows.subscriptions).toBe('^----!');
      expectSubscriptions(job.subscriptions).toBe(['-^--!', '--^--!', '----^--!']);
    });
  });

  it('passes on never, empty and one', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const merge = mergeJobs<string, string>(() => cold('-d|', events), { concurrency: 2 });
      expectObservable(cold('-').pipe(merge)).toBe('-');
      expectObservable(cold('--|').pipe(merge)).toBe('--|');
      expectObservable(cold('-a|').pipe(merge)).toBe('---(a|)', { a: row('a', 0) });
      expectObservable(cold('-a-----|').pipe(merge)).toBe('---a---|', { a: row('a', 0) });
    });
  });

  it('errors when more rows wait than it may hold', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const rows = cold('abcd|');
      const job = cold<JobEvent<string>>('------d|', events);
      const result = rows.pipe(mergeJobs(() => job, { concurrency: 1, maxBuffered: 2 }));
      const error = expect.objectContaining({ code: 'too-many-waiting' });
      expectObservable(result).toBe('-------(a#)', { a: row('a', 0) }, error);
      expectSubscriptions(rows.subscriptions).toBe('^--!');
      expectSubscriptions(job.subscriptions).toBe('^------!');
    });
  });

  it('errors when the source errors, when a job errors and when project throws', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('------d|', events);
      expectObservable(cold('a-#').pipe(mergeJobs(() => job, { concurrency: 1 }))).toBe('-------(a#)', {
        a: row('a', 0),
      });
      expectSubscriptions(job.subscriptions).toBe('^------!');
      expectObservable(cold('a-').pipe(mergeJobs(() => cold('-#'), { concurrency: 1 }))).toBe('-#');
      const broken = (): never => {
        throw new Error('broken');
      };
      expectObservable(cold('-a-').pipe(mergeJobs(broken, { concurrency: 1 }))).toBe(
        '-#',
        undefined,
        new Error('broken'),
      );
    });
  });

  it('unsubscribes the source and every job, and forgets who waits', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const rows = cold('abc---');
      const job = cold<JobEvent<string>>('------d|', events);
      expectObservable(rows.pipe(mergeJobs(() => job, { concurrency: 2 })), '^---!').toBe('----');
      expectSubscriptions(rows.subscriptions).toBe('^---!');
      expectSubscriptions(job.subscriptions).toBe(['^---!', '-^--!']);
    });
  });

  it('keeps the order of many rows that wait', async () => {
    const jobs = range(0, 5_000).pipe(
      mergeJobs(() => of(settled(completed('out'))), { concurrency: 1 }),
      count(),
    );
    expect(await lastValueFrom(jobs)).toBe(5_000);
    const order: number[] = [];
    const waiting = range(0, 900).pipe(
      mergeJobs((index) => (order.push(index), NEVER), { concurrency: 900 }),
    );
    waiting.subscribe().unsubscribe();
    expect(order).toStrictEqual(Array.from({ length: 900 }, (_, index) => index));
  });
});
