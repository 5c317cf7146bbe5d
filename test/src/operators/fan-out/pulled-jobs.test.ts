import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { concatMap, defer, EMPTY, map, NEVER, of, Subject, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { pullJobs } from '../../../../src/operators/fan-out/pull-jobs.js';
import { jobEvents as events } from '../../../../src/testing/in-virtual-time.js';

/** Rows that say how far they were pulled and whether the source was closed. */
function* counted(seen: { pulled: number; closed: boolean }, rows = 100) {
  try {
    for (let row = 0; row < rows; row += 1) {
      seen.pulled += 1;
      yield row;
    }
  } finally {
    seen.closed = true;
  }
}
const done = () => of<JobEvent<string>>(events.d);
/** Ends in a turn of its own, so that the reader takes each outcome before the next. */
const later = () => defer(() => new Promise(setImmediate)).pipe(concatMap(done));
const begin = (
  project: () => Observable<JobEvent<string>> = done,
  concurrency: number | Observable<number> = 2,
  rows = 100,
) => {
  const seen = { pulled: 0, closed: false };
  return { seen, jobs: pullJobs(counted(seen, rows), project, { concurrency }) };
};

describe('an iteration of pulled jobs', () => {
  it('gives every outcome, and nothing when there is none', async () => {
    const all: number[] = [];
    for await (const { row, outcome } of begin(done, 3, 20).jobs)
      if (outcome.status === 'completed') all.push(row);
    expect(all).toHaveLength(20);
    expect(await begin(done, 3, 0).jobs[Symbol.asyncIterator]().next()).toStrictEqual({
      done: true,
      value: undefined,
    });
  });

  it.each([1, 2, 3, 20])('loses no outcome of jobs that end later, with %i slots', async (concurrency) => {
    const rows: number[] = [];
    for await (const { row } of begin(later, concurrency, 20).jobs) rows.push(row);
    expect(rows.sort((one, other) => one - other)).toStrictEqual(Array.from({ length: 20 }, (_, row) => row));
  });

  it('pulls a row for each slot, and one more for each outcome that is taken', async () => {
    const { jobs, seen } = begin();
    const iterator = jobs[Symbol.asyncIterator]();
    expect(seen.pulled).toBe(0);
    await iterator.next();
    expect(seen.pulled).toBe(3);
    await iterator.next();
    expect(seen.pulled).toBe(4);
    await iterator.return!();
    expect(seen).toStrictEqual({ pulled: 4, closed: true });
  });

  it('has the reader of a Node stream set the pace', async () => {
    const { jobs, seen } = begin();
    const written: number[] = [];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = new Writable({
      objectMode: true,
      highWaterMark: 1,
      write: ({ row }: { row: number }, _, next) => {
        written.push(row);
        if (written.length === 1) void released.then(() => next());
        else next();
      },
    });
    const readable = Readable.from(jobs, { objectMode: true, highWaterMark: 1 });
    const finished = pipeline(readable, slow);
    await new Promise(setImmediate);
    expect(seen.pulled).toBeLessThan(10);
    release();
    await finished;
    expect(written).toHaveLength(100);
  });

  it('closes the source when a Node stream is destroyed', async () => {
    const { jobs, seen } = begin(() => NEVER);
    const readable = Readable.from(jobs);
    readable.resume();
    await new Promise(setImmediate);
    readable.destroy();
    await once(readable, 'close');
    expect(seen.pulled).toBe(2);
  });

  it('throws what ends the stream, and a concurrency that is none', async () => {
    const broken = begin(() => throwError(() => new Error('disk'))).jobs;
    await expect(broken[Symbol.asyncIterator]().next()).rejects.toThrow('disk');
    for (const concurrency of [-1, 1.5, Number.NaN])
      await expect(begin(done, of(concurrency)).jobs[Symbol.asyncIterator]().next()).rejects.toThrow(
        'concurrency',
      );
  });

  it.each([
    ['from the beginning', of(0)],
    ['without a number', EMPTY],
    ['while rows are left', of(2, 0)],
    ['in a turn of its own', defer(later).pipe(map(() => 0))],
  ])('throws when the concurrency ends at 0 %s', async (_, concurrency) => {
    const jobs = pullJobs(counted({ pulled: 0, closed: false }), later, { concurrency });
    const read = async () => {
      for await (const { outcome } of jobs) expect(outcome.status).toBe('completed');
    };
    await expect(read()).rejects.toThrow('concurrency ended at 0');
  });

  it('goes on with the last number once the concurrency has ended', async () => {
    const rows: number[] = [];
    const jobs = pullJobs(counted({ pulled: 0, closed: false }, 20), later, { concurrency: of(0, 3) });
    for await (const { row } of jobs) rows.push(row);
    expect(rows).toHaveLength(20);
  });

  it('follows a concurrency that changes', async () => {
    const seen = { pulled: 0, closed: false };
    const concurrency = new Subject<number>();
    const iterator = pullJobs(counted(seen), done, { concurrency })[Symbol.asyncIterator]();
    const first = iterator.next();
    expect(seen.pulled).toBe(0);
    concurrency.next(1);
    await first;
    concurrency.next(5);
    expect(seen.pulled).toBe(6);
    concurrency.next(1);
    for (let index = 0; index < 5; index += 1) await iterator.next();
    expect(seen.pulled).toBe(7);
  });
});
