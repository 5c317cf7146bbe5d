import {
  concatMap,
  defer,
  finalize,
  from,
  lastValueFrom,
  map,
  NEVER,
  retry,
  Subject,
  take,
  takeUntil,
  toArray,
  type Observable,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { mergeJobs } from '../../../../src/operators/fan-out/merge-jobs.js';
import { pullJobs, type PullOptions } from '../../../../src/operators/fan-out/pull-jobs.js';
import { echoShop, turn } from '../../../support/echo-shop.js';
import { scriptedClient } from '../../../support/scripted-client.js';

const rows = Array.from({ length: 20 }, (_, row) => row);

/** A place to save rows that fails once, at the sixth. */
function store() {
  const saved = new Set<number>();
  let calls = 0;
  const put = (row: number) => {
    calls += 1;
    if (calls === 6) throw new Error('not saved');
    saved.add(row);
    return row;
  };
  return { saved, put, later: (row: number) => defer(() => turn().then(() => put(row))) };
}

const fanOuts = {
  pullJobs: (buy: ReturnType<typeof echoShop>['buy'], options: Partial<PullOptions> = {}) =>
    pullJobs(rows, buy, { concurrency: 4, ...options }),
  mergeJobs: (buy: ReturnType<typeof echoShop>['buy'], options: { replay?: number } = {}) =>
    from(rows).pipe(mergeJobs(buy, { concurrency: 4, ...options })),
};
const kinds = ['pullJobs', 'mergeJobs'] as const;
const rowOf = <T>(outcomes: Observable<{ row: T }>) => outcomes.pipe(map(({ row }) => row));

describe.each(kinds)('%s is one run', (kind) => {
  it('retry behind a save that fails buys nothing again, and saves every row', async () => {
    const { buy, sent } = echoShop('later');
    const { saved, later } = store();
    await lastValueFrom(rowOf(fanOuts[kind](buy)).pipe(concatMap(later), retry(2)));
    expect(sent).toHaveLength(20);
    expect(saved.size).toBe(20);
  });

  it('retry after a while', async () => {
    const { buy, sent } = echoShop('later');
    const { saved, later } = store();
    await lastValueFrom(rowOf(fanOuts[kind](buy)).pipe(concatMap(later), retry({ count: 2, delay: 5 })));
    expect(sent).toHaveLength(20);
    expect(saved.size).toBe(20);
  });

  it('a second subscriber joins, and one after the end has its outcomes', async () => {
    const { buy, sent } = echoShop('later');
    const outcomes = rowOf(fanOuts[kind](buy)).pipe(toArray());
    const both = await Promise.all([lastValueFrom(outcomes), lastValueFrom(outcomes)]);
    const late = await lastValueFrom(outcomes);
    for (const all of [...both, late]) expect(new Set(all)).toStrictEqual(new Set(rows));
    expect(sent).toHaveLength(20);
  });

  it('gives a later subscriber so many of the last outcomes', async () => {
    const { buy } = echoShop('later');
    const two = rowOf(fanOuts[kind](buy, { replay: 2 })).pipe(toArray());
    expect((await lastValueFrom(two)).slice(-2)).toStrictEqual(await lastValueFrom(two));
    const none = rowOf(fanOuts[kind](buy, { replay: 0 })).pipe(toArray());
    expect(await lastValueFrom(none)).toHaveLength(20);
    expect(await lastValueFrom(none)).toStrictEqual([]);
    expect(() => fanOuts[kind](buy, { replay: -1 })).toThrow('replay');
  });

  it('called again, it buys again', async () => {
    const { buy, sent } = echoShop('at once');
    await lastValueFrom(fanOuts[kind](buy));
    await lastValueFrom(fanOuts[kind](buy));
    expect(sent).toHaveLength(40);
  });

  it('joins the jobs that were in flight when it was left', async () => {
    const service = scriptedClient();
    const endpoint = service.client.queue('echo');
    const outcomes = rowOf(fanOuts[kind]((row) => endpoint.run({ row }))).pipe(take(4), toArray());
    outcomes.subscribe().unsubscribe();
    expect(service.posts()).toBe(4);
    service.answer('/run', { id: 'a', status: 'COMPLETED', output: {} });
    const all = lastValueFrom(outcomes);
    expect(service.posts()).toBe(5);
    for (const id of ['b', 'c', 'd']) service.answer('/run', { id, status: 'COMPLETED', output: {} });
    expect(await all).toStrictEqual([0, 1, 2, 3]);
  });
});

describe('pullJobs is one run', () => {
  it('also where rows end at once and the save fails at once', async () => {
    const { buy, sent } = echoShop('at once');
    const { saved, put } = store();
    await lastValueFrom(rowOf(fanOuts.pullJobs(buy)).pipe(map(put), retry(2)));
    expect(sent).toHaveLength(20);
    expect(saved.size).toBe(20);
  });

  it('counts a row once that ends because another one is left with it', () => {
    const service = scriptedClient();
    const done = { id: 'b', status: 'COMPLETED', output: {} };
    const ends = (row: number) => service.client.queue('ends').run({ row });
    const first = service.client.queue('first').run({});
    const project = (row: number) =>
      row === 0
        ? first.pipe(finalize(() => service.posts() === 2 && service.answer('/ends/run', done)))
        : ends(row);
    const jobs = rowOf(pullJobs(rows, project, { concurrency: 2 }));
    jobs.subscribe().unsubscribe();
    const seen: number[] = [];
    const subscription = jobs.subscribe((row) => seen.push(row));
    expect([seen, service.posts()]).toStrictEqual([[1], 3]);
    subscription.unsubscribe();
  });

  it('buys a row that was stopped in project when it goes on, once', async () => {
    const { buy, sent } = echoShop('at once');
    const stop = new Subject<void>();
    let projected = 0;
    const project = (row: number) => {
      projected += 1;
      if (row === 3 && projected === 4) stop.next();
      return buy(row);
    };
    const jobs = pullJobs(rows, project, { concurrency: 4 });
    jobs.pipe(takeUntil(stop)).subscribe();
    expect(sent).toHaveLength(3);
    expect(await lastValueFrom(rowOf(jobs).pipe(toArray()))).toStrictEqual(rows);
    expect([sent.length, projected]).toStrictEqual([20, 20]);
  });

  it('a second iteration goes on, with what the first had not taken', async () => {
    const { buy, sent } = echoShop('later');
    const jobs = fanOuts.pullJobs(buy);
    const seen: number[] = [];
    for (const count of [5, 12, 99]) {
      for await (const { row } of jobs) {
        seen.push(row);
        if (seen.length === count) break;
        if (seen.length % 3 === 0) await turn();
      }
    }
    expect([...seen].sort((one, other) => one - other)).toStrictEqual(rows);
    expect(sent).toHaveLength(20);
  });

  it('two iterations at a time have every row, at the pace of the slower', async () => {
    const { buy, sent } = echoShop('later');
    const jobs = fanOuts.pullJobs(buy);
    const read = async (wait: number) => {
      const seen: number[] = [];
      for await (const { row } of jobs) {
        seen.push(row);
        for (let index = 0; index < wait; index += 1) await turn();
        expect(sent.length).toBeLessThanOrEqual(seen.length + 8 + 20 * Number(wait === 0));
      }
      return seen.length;
    };
    expect(await Promise.all([read(0), read(3)])).toStrictEqual([20, 20]);
    expect(sent).toHaveLength(20);
  });

  it.each(['iteration', 'subscription'])(
    'goes on for another %s when a slow iteration leaves',
    async (kind) => {
      const { buy } = echoShop('later');
      const jobs = fanOuts.pullJobs(buy);
      const slow = jobs[Symbol.asyncIterator]();
      await slow.next();
      const seen: number[] = [];
      const iterated = async () => {
        for await (const { row } of jobs) seen.push(row);
      };
      const end = kind === 'iteration' ? iterated() : jobs.forEach(({ row }) => seen.push(row));
      for (let index = 0; index < 20; index += 1) await turn();
      expect(seen.length).toBeLessThan(rows.length);
      await slow.return!();
      await end;
      expect(seen).toContain(rows.at(-1));
    },
  );

  it('a generator that was closed by leaving is an error, behind the jobs in flight', async () => {
    const service = scriptedClient();
    const endpoint = service.client.queue('echo');
    let closed = 0;
    function* some() {
      try {
        yield* rows;
      } finally {
        closed += 1;
      }
    }
    const jobs = pullJobs(some(), (row) => endpoint.run({ row }), { concurrency: 2 });
    jobs.subscribe().unsubscribe();
    const seen: unknown[] = [];
    const again = () =>
      jobs.subscribe({ next: ({ row }) => seen.push(row), error: (error: unknown) => seen.push(error) });
    again();
    service.answer('/run', { id: 'a', status: 'COMPLETED', output: {} });
    service.answer('/run', { id: 'b', status: 'COMPLETED', output: {} });
    const error = expect.objectContaining({ code: 'source-closed' }) as unknown;
    expect(seen).toStrictEqual([0, 1, error]);
    again();
    expect(seen).toStrictEqual([0, 1, error, 0, 1, error]);
    expect([closed, service.posts()]).toStrictEqual([1, 2]);
  });

  it('that has failed stays failed', async () => {
    const { buy, sent } = echoShop('at once');
    const project = (row: number) => {
      if (row === 3) throw new Error('no such row');
      return buy(row);
    };
    for (const onError of ['drain', 'stop'] as const) {
      const jobs = pullJobs(rows, project, { concurrency: 2, onError });
      for (let round = 0; round < 2; round += 1)
        await expect(lastValueFrom(jobs)).rejects.toThrow('no such row');
    }
    expect(sent).toHaveLength(6);
  });

  it('follows its concurrency when it goes on', () => {
    const slots = new Subject<number>();
    const projected: number[] = [];
    const project = (row: number) => {
      projected.push(row);
      return NEVER;
    };
    const jobs = pullJobs(rows, project, { concurrency: slots });
    const first = jobs.subscribe();
    slots.next(2);
    first.unsubscribe();
    expect([projected, slots.observed]).toStrictEqual([[0, 1], false]);
    const second = jobs.subscribe();
    slots.next(5);
    expect(projected).toStrictEqual([0, 1, 2, 3, 4]);
    second.unsubscribe();
    expect(slots.observed).toBe(false);
  });
});
