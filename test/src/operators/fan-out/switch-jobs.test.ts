import { of, Subject, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { createBudget } from '../../../../src/operators/budget/create-budget.js';
import { withinBudget } from '../../../../src/operators/budget/within-budget.js';
import { chainJob } from '../../../../src/operators/chain-job.js';
import { switchJobs } from '../../../../src/operators/fan-out/switch-jobs.js';
import { retryPurchase } from '../../../../src/operators/retry-purchase.js';
import { saveWith } from '../../../../src/operators/save-with.js';
import { createLanes, withinLane } from '../../../../src/operators/within-lane.js';
import { jobEvents as events, jobOver } from '../../../../src/testing/in-virtual-time.js';
import { scriptedClient } from '../../../support/scripted-client.js';
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

/** Jobs that have no id to cancel while their POST is on the wire, in forms whose type does not say so. */
function uncancellable() {
  const { client, answer, paths } = scriptedClient();
  const edits = client.queue('edit');
  const lanes = createLanes({ slots: 8 });
  const within = withinBudget<unknown>(createBudget(1), 0.1);
  const sync = () => edits.runSync({});
  const once = { maxRetries: 1, codes: ['job-failed'] } as const;
  const forms: Record<string, () => Observable<JobEvent<unknown>>> = {
    'within a budget': () => sync().pipe(within),
    'in a lane, saved': () =>
      sync().pipe(
        withinLane(lanes, 'a'),
        saveWith(() => of(1)),
      ),
    'first of a chain': () => sync().pipe(chainJob(() => edits.run({}))),
    'that is bought again': () => retryPurchase(sync, once).pipe(within),
    'of a route, posted': () => client.routes('https://lb.example').post('edit', {}).pipe(within),
    'of a route, read': () => client.routes('https://lb.example').get('edit').pipe(within),
  };
  return { edits, answer, paths, forms };
}

describe('switchJobs refuses a job that cannot be cancelled on its way, and cancels the one before', () => {
  it.each(Object.keys(uncancellable().forms))('%s', (form) => {
    const { edits, answer, paths, forms } = uncancellable();
    const rows = new Subject<string>();
    const errors: unknown[] = [];
    const switched = rows.pipe(switchJobs((row) => (row === 'run' ? edits.run({}) : forms[form]!())));
    switched.subscribe({ error: (error: unknown) => errors.push(error) });
    rows.next('run');
    answer('/run', { id: 'a', status: 'IN_QUEUE' });
    rows.next('sync');
    expect(errors).toMatchObject([{ name: 'InvalidOptionError', option: 'project' }]);
    expect(paths).toStrictEqual(['/v2/edit/run', '/v2/edit/cancel/a']);
    answer('/cancel/a', { id: 'a', status: 'CANCELLED' });
  });
});
