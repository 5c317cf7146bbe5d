import { from, lastValueFrom, mergeWith, type Observable, retry, Subject, take, takeUntil, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { mergeJobs } from '../../../../src/operators/fan-out/merge-jobs.js';
import { pullJobs } from '../../../../src/operators/fan-out/pull-jobs.js';
import { switchJobs } from '../../../../src/operators/fan-out/switch-jobs.js';
import type { Job } from '../../../../src/operators/job.js';
import { toOutcome, toOutput } from '../../../../src/operators/to-outcome.js';
import { echoShop, turn } from '../../../support/echo-shop.js';

type Buy = (row: number) => Observable<JobEvent<unknown>>;
type FanOut = (rows: Iterable<number>, buy: Buy) => Observable<unknown>;

/** Each fan-out over rows that come while it is being subscribed. */
const fanOuts: Record<string, FanOut> = {
  pullJobs: (rows, buy) => pullJobs(rows, buy, { concurrency: 4 }),
  mergeJobs: (rows, buy) => from(rows).pipe(mergeJobs(buy, { concurrency: 4 })),
  switchJobs: (rows, buy) => from(rows).pipe(switchJobs(buy)),
};
/** The rows whose jobs run to their end: of `switchJobs` the last. */
const kept = (name: string, rows: number[]) => (name === 'switchJobs' ? rows.slice(-1) : rows);

/** Rows without end, as far as a test that fails: how many were taken, and how often they were closed. */
function endless(inRow: (row: number) => void = () => undefined) {
  const seen = { taken: 0, closed: 0 };
  function* rows() {
    try {
      while (seen.taken < 2_000) {
        inRow(seen.taken);
        yield seen.taken++;
      }
    } finally {
      seen.closed += 1;
    }
  }
  return { seen, rows: rows() };
}

/** What was bought, in the order in which it left. */
const bodies = (sent: { body?: string | undefined }[]) =>
  sent.flatMap(({ body }) =>
    body === undefined ? [] : [(JSON.parse(body) as { input: { row: number } }).input.row],
  );

const settle = async () => {
  for (let turns = 0; turns < 20; turns += 1) await turn();
};

describe.each(Object.entries(fanOuts))('%s with real jobs', (name, fanOut) => {
  it('leaves a synchronous source without end at once, in next', async () => {
    const { buy, sent } = echoShop('at once');
    const { seen, rows } = endless();
    const events: unknown[] = [];
    fanOut(rows, buy)
      .pipe(take(1))
      .subscribe((event) => events.push(event));
    await settle();
    expect([events.length, seen.closed]).toStrictEqual([1, 1]);
    expect(sent.length).toBeLessThanOrEqual(4);
    expect(seen.taken).toBeLessThanOrEqual(5);
  });

  it.each(['generator', 'project'] as const)('buys nothing behind a stop in the %s', async (where) => {
    const { buy, sent } = echoShop();
    const stop = new Subject<void>();
    const { seen, rows } = endless((row) => {
      if (where === 'generator' && row === 3) stop.next();
    });
    const projected: number[] = [];
    const project = (row: number) => {
      projected.push(row);
      if (where === 'project' && row === 3) stop.next();
      return buy(row);
    };
    fanOut(rows, project).pipe(takeUntil(stop)).subscribe();
    await settle();
    await settle();
    expect(seen.closed).toBe(1);
    expect(projected).toStrictEqual(where === 'project' ? [0, 1, 2, 3] : [0, 1, 2]);
    // What `switchJobs` left before its POST was never sent.
    for (const row of bodies(sent)) expect(row).toBeLessThan(3);
  });

  it('joins a second subscriber, also one from within an event: each row is bought once', async () => {
    const { buy, sent } = echoShop();
    const rows = [1, 2, 3, 4];
    const run = fanOut(rows, buy);
    const ends: string[] = [];
    const end = (who: string) => ({ complete: () => void ends.push(who) });
    let isFirst = true;
    run
      .pipe(
        tap(() => {
          if (isFirst) run.subscribe(end('from within'));
          isFirst = false;
        }),
      )
      .subscribe(end('first'));
    run.subscribe(end('second'));
    await settle();
    expect(ends.sort()).toStrictEqual(['first', 'from within', 'second']);
    expect(bodies(sent).filter((row) => kept(name, rows).includes(row))).toStrictEqual(kept(name, rows));
    expect(new Set(bodies(sent)).size).toBe(bodies(sent).length);
  });

  it('buys nothing again behind a save that fails, once its source has ended', async () => {
    const { buy, sent } = echoShop();
    let fails = true;
    const save = () => {
      if (fails) {
        fails = false;
        throw new Error('not saved');
      }
    };
    const saved: unknown[] = [];
    const isEnd = (event: unknown) => (event as { type?: string }).type === undefined || isSettled(event);
    fanOut([1], buy)
      .pipe(
        tap((event) => {
          if (isEnd(event)) save();
        }),
        retry(2),
      )
      .subscribe((event) => isEnd(event) && saved.push(event));
    await settle();
    expect([saved.length, bodies(sent)]).toStrictEqual([1, [1]]);
  });

  it('takes another fan-out, and another job, from within an event', async () => {
    const { buy, sent } = echoShop();
    let inner = 0;
    const nested = fanOut([10], (row) => buy(row)).pipe(tap({ complete: () => (inner += 1) }));
    fanOut([1], buy)
      .pipe(
        tap((event) => {
          if (isSettled(event) || (event as { outcome?: object }).outcome !== undefined)
            nested.pipe(mergeWith(buy(20))).subscribe();
        }),
      )
      .subscribe();
    await settle();
    expect([inner, bodies(sent).sort()]).toStrictEqual([1, [1, 10, 20]]);
  });

  it('ends where there are no rows, and with the error of its source', () => {
    const { buy, sent } = echoShop();
    const ends: unknown[] = [];
    const observer = { error: (error: unknown) => ends.push(error), complete: () => ends.push('end') };
    fanOut([], buy).subscribe(observer);
    const broken = new Error('no rows');
    fanOut(
      {
        [Symbol.iterator]: () => ({
          next: () => {
            throw broken;
          },
        }),
      },
      buy,
    ).subscribe(observer);
    expect([ends, sent.length]).toStrictEqual([['end', broken], 0]);
  });
});

function isSettled(event: unknown): boolean {
  return (event as { type?: string }).type === 'settled';
}

describe.each(Object.entries(fanOuts))('%s with a project that is written wrongly', (name, fanOut) => {
  it.each([
    ['emits outcomes', toOutcome<unknown>()],
    ['emits outputs', toOutput<unknown>()],
  ])('errors where project %s: the rows would be paid and missing', async (_what, operator) => {
    const { buy, sent } = echoShop();
    const project = (row: number) => buy(row).pipe(operator) as Observable<never>;
    const rows = Array(name === 'switchJobs' ? 1 : 20).keys();
    const bought = lastValueFrom(fanOut(rows, project));
    await expect(bought).rejects.toMatchObject({ code: 'invalid-option', option: 'project' });
    await expect(bought).rejects.toThrow('leave out toOutcome() and toOutput() there');
    expect(sent.length).toBeLessThanOrEqual(4);
  });

  it.each([
    ['is async', (buy: Buy) => (row: number) => Promise.resolve().then(() => buy(row))],
    ['awaits the outcome', (buy: Buy) => (row: number) => (buy(row) as Job<unknown>).outcome()],
  ])('names the mistake where project %s, and reports no other rejection', async (_what, projectOf) => {
    const { buy } = echoShop();
    const rejections: unknown[] = [];
    const note = (error: unknown) => void rejections.push(error);
    process.on('unhandledRejection', note);
    const project = projectOf(buy) as unknown as Buy;
    await expect(lastValueFrom(fanOut([1, 2, 3], project))).rejects.toThrow(
      'project: returned a promise: return the job itself',
    );
    await settle();
    process.off('unhandledRejection', note);
    expect(rejections).toStrictEqual([]);
  });
});
