import {
  concat,
  defer,
  EMPTY,
  from,
  lastValueFrom,
  map,
  NEVER,
  of,
  retry,
  Subject,
  throwError,
  toArray,
  type Observable,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent, Outcome } from '../../../src/contract/outcome.js';
import { mergeJobs } from '../../../src/operators/fan-out/merge-jobs.js';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import type { Job } from '../../../src/operators/job.js';
import { saveWith } from '../../../src/operators/save-with.js';
import { createLanes, withinLane } from '../../../src/operators/within-lane.js';
import { clientOver } from '../../support/client-over.js';
import { echoShop, turn } from '../../support/echo-shop.js';
import { jobEvents as events, jobOver } from '../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../support/virtual-time.js';

const rows = Array.from({ length: 20 }, (_, row) => row);

describe('saveWith', () => {
  it('ends the job when its outcome is saved', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const saved: Outcome<string>[] = [];
      const save = (outcome: Outcome<string>) => {
        saved.push(outcome);
        return cold('---x|');
      };
      const job = jobOver(cold<JobEvent<string>>('s-a-(d|)', events));
      expectObservable(job.pipe(saveWith(save))).toBe('s-a-----(d|)', events);
    });
  });

  it('passes on never, empty and an error, and saves a failure as it saves a completion', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const save = () => cold('--|');
      for (const marbles of ['-', '|', 's|', 's#'])
        expectObservable(cold<JobEvent<string>>(marbles, events).pipe(saveWith(save))).toBe(marbles, events);
      expectObservable(cold<JobEvent<string>>('(f|)', events).pipe(saveWith(save))).toBe('--(f|)', events);
    });
  });

  it('errors behind a fan-out, of which it would save nothing', async () => {
    const { buy } = echoShop();
    let saves = 0;
    const save = saveWith(() => of((saves += 1)));
    const rowsOf = pullJobs([1, 2], (row) => buy(row), { concurrency: 1 }) as Observable<unknown>;
    const saved = rowsOf.pipe(save as unknown as (behind: Observable<unknown>) => Observable<unknown>);
    await expect(lastValueFrom(saved)).rejects.toMatchObject({ code: 'invalid-option', option: 'saveWith' });
    expect(saves).toBe(0);
  });

  it('says what a save should return that returns nothing', async () => {
    const { buy } = echoShop();
    const saved = buy(1).pipe(saveWith((() => undefined) as never));
    await expect(saved.outcome()).rejects.toMatchObject({
      code: 'not-saved',
      message:
        'saveWith: the outcome of job job-1 is not saved: save: is not a function that returns a promise or a stream, as an async one does (got undefined)',
    });
  });

  it('saves an outcome once, whoever subscribes to the job and when', async () => {
    const { buy, sent } = echoShop();
    let saves = 0;
    const job: Job<unknown> = buy(1).pipe(saveWith(() => turn().then(() => (saves += 1))));
    await Promise.all([job.outcome(), job.outcome()]);
    expect(await job.outcome()).toMatchObject({ status: 'completed', jobId: 'job-1' });
    expect([saves, sent.length]).toStrictEqual([1, 1]);
  });

  it('goes on saving when everybody has left, and a later subscriber joins that', async () => {
    const { buy } = echoShop('at once');
    const store = new Subject<void>();
    let saves = 0;
    const job = buy(1).pipe(
      saveWith(() => {
        saves += 1;
        return store;
      }),
    );
    job.subscribe().unsubscribe();
    expect([store.observed, saves]).toStrictEqual([true, 1]);
    const outcome = job.outcome();
    store.complete();
    expect(await outcome).toMatchObject({ status: 'completed' });
    expect(saves).toBe(1);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no disk');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no disk'))],
    ['errors', () => throwError(() => new Error('no disk'))],
  ])('that %s errors with not-saved, and keeps the outcome for the next subscriber', async (_, fail) => {
    const { buy, sent } = echoShop();
    let tries = 0;
    const job: Job<unknown> = buy(1).pipe(saveWith(() => (++tries < 3 ? fail() : EMPTY)));
    const error = { code: 'not-saved', message: 'saveWith: the outcome of job job-1 is not saved: no disk' };
    await expect(job.outcome()).rejects.toMatchObject(error);
    expect(await lastValueFrom(job.pipe(retry(2)))).toMatchObject({ type: 'settled' });
    expect([tries, sent.length]).toStrictEqual([3, 1]);
  });

  it('is no wrong row where the save itself has a wrong input: the job is paid', async () => {
    const { buy } = echoShop();
    const other = clientOver().client.queue('other');
    const wrong = () => other.run('no object').output();
    await expect(buy(1).pipe(saveWith(wrong)).outcome()).rejects.toMatchObject({ code: 'not-saved' });
  });

  it('keeps the job: it is cancelled, and its id is known', async () => {
    const { buy } = echoShop();
    const job: Job<unknown> = buy(1).pipe(saveWith(() => EMPTY));
    expect(await job.cancel()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(await job.outcome()).toMatchObject({ code: 'job-cancelled' });
  });

  it('keeps the slot of a lane until the outcome is saved', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const lanes = createLanes({ slots: 1 });
      const job = () =>
        jobOver(cold<JobEvent<string>>('(d|)', events)).pipe(
          saveWith(() => cold('---|')),
          withinLane(lanes, 'x'),
        );
      expectObservable(job()).toBe('---(d|)', events);
      expectObservable(job()).toBe('------(d|)', events);
    });
  });
});

describe.each(['later', 'at once'] as const)('a fan-out whose jobs end %s and are saved', (how) => {
  const fanOuts = {
    pullJobs: (project: (row: number) => Job<unknown>) => pullJobs(rows, project, { concurrency: 4 }),
    mergeJobs: (project: (row: number) => Job<unknown>) =>
      from(rows).pipe(mergeJobs(project, { concurrency: 4 })),
  };

  it.each(['pullJobs', 'mergeJobs'] as const)(
    '%s buys no more than its concurrency ahead of a slow store',
    async (kind) => {
      const { buy, sent } = echoShop(how);
      let [saved, most] = [0, 0];
      const save = async () => {
        for (let index = 0; index < 5; index += 1) await turn();
        most = Math.max(most, sent.length - saved);
        saved += 1;
      };
      await lastValueFrom(fanOuts[kind]((row) => buy(row).pipe(saveWith(save))));
      expect([saved, most, sent.length]).toStrictEqual([20, 4, 20]);
    },
  );

  it.each(['pullJobs', 'mergeJobs'] as const)(
    '%s with retry behind a store that fails now and then: 20 POSTs for 20 rows, each saved once',
    async (kind) => {
      const { buy, sent } = echoShop(how);
      const saved: number[] = [];
      let tries = 0;
      const save = async (row: number) => {
        tries += 1;
        await turn();
        if (tries % 6 === 5) throw new Error('the store is away');
        saved.push(row);
      };
      const run = fanOuts[kind]((row) => buy(row).pipe(saveWith(() => save(row)))).pipe(
        retry(9),
        map(({ row }) => row),
        toArray(),
      );
      const seen = new Set(await lastValueFrom(run));
      expect(sent).toHaveLength(20);
      expect(saved.sort((one, other) => one - other)).toStrictEqual(rows);
      expect(seen).toStrictEqual(new Set(rows));
    },
  );
});

describe('a fan-out after the error of a job', () => {
  const broken = (failing: { now: boolean }) => (row: number) =>
    jobOver(
      defer(() =>
        failing.now && row === 1 ? throwError(() => new Error('not saved')) : of<JobEvent<string>>(events.d),
      ),
    );

  it('drains, errors, and goes on with the next subscriber at the job that failed', () => {
    const failing = { now: true };
    const run = pullJobs([0, 1, 2, 3], broken(failing), { concurrency: 2, replay: 0 });
    const seen: unknown[] = [];
    const watch = () =>
      run.subscribe({
        next: ({ row, index }) => seen.push([row, index]),
        error: (error: Error) => seen.push(error.message),
        complete: () => seen.push('complete'),
      });
    watch();
    expect(seen).toStrictEqual([[0, 0], 'not saved']);
    watch();
    expect(seen.splice(0)).toStrictEqual([[0, 0], 'not saved', 'not saved']);
    failing.now = false;
    watch();
    expect(seen).toStrictEqual([[1, 1], [2, 2], [3, 3], 'complete']);
  });

  it('with onError stop: the jobs in flight are joined by the next one', () => {
    const failing = { now: true };
    const slow = new Subject<JobEvent<string>>();
    const project = (row: number) => (row === 0 ? jobOver(slow) : broken(failing)(row));
    const run = pullJobs([0, 1, 2], project, { concurrency: 2, onError: 'stop', replay: 0 });
    const seen: unknown[] = [];
    const watch = () => run.subscribe({ next: ({ row }) => seen.push(row), error: () => seen.push('error') });
    watch();
    expect([seen.splice(0), slow.observed]).toStrictEqual([['error'], false]);
    failing.now = false;
    watch();
    slow.next(events.d);
    slow.complete();
    expect(seen.sort()).toStrictEqual([0, 1, 2]);
  });

  it.each([
    [
      'its stream is not a job',
      () => pullJobs([0, 1, 2], (row) => concat(broken({ now: true })(row)), { concurrency: 1 }),
    ],
    [
      'its source may begin anew',
      () => concat([0, 1, 2], NEVER).pipe(mergeJobs(broken({ now: true }), { concurrency: 1 })),
    ],
  ])('stays failed where %s: it might buy again', async (_, make) => {
    const run: Observable<unknown> = make();
    for (let round = 0; round < 2; round += 1) await expect(lastValueFrom(run)).rejects.toThrow('not saved');
  });
});
