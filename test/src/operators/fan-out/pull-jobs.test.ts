import { Readable } from 'node:stream';
import {
  defer,
  EMPTY,
  lastValueFrom,
  NEVER,
  of,
  Subject,
  take,
  takeUntil,
  throwError,
  toArray,
  type Observable,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { InvalidInputError } from '../../../../src/operators/job-error.js';
import { pullJobs } from '../../../../src/operators/fan-out/pull-jobs.js';
import { completed, jobEvents as events, failed, settled } from '../../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

const done = settled(completed('out'));
const row = (value: string, index: number) => ({ row: value, index, outcome: completed('out') });

/** A source that notes what is asked of it. */
function noted<T>(rows: readonly T[]) {
  const calls = { next: 0, returned: 0 };
  const iterator = rows[Symbol.iterator]();
  const source: Iterable<T> = {
    [Symbol.iterator]: () => ({
      next: () => {
        calls.next += 1;
        return iterator.next();
      },
      return: () => {
        calls.returned += 1;
        return { done: true, value: undefined };
      },
    }),
  };
  return { source, calls };
}

describe('pullJobs over an iterable', () => {
  it('emits outcomes in order of completion, and frees a slot when the job completes', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const jobs: Record<string, ReturnType<typeof cold<JobEvent<string>>>> = {
        a: cold('s-----d|', events),
        b: cold('s-d--|', events),
        c: cold('     s-d|', events),
      };
      const result = pullJobs(['a', 'b', 'c'], (name) => jobs[name]!, { concurrency: 2 });
      expectObservable(result).toBe('-----b-a(c|)', { a: row('a', 0), b: row('b', 1), c: row('c', 2) });
      expectSubscriptions(jobs.a!.subscriptions).toBe('^------!');
      expectSubscriptions(jobs.b!.subscriptions).toBe('^----!');
      expectSubscriptions(jobs.c!.subscriptions).toBe('-----^--!');
    });
  });

  it('asks for a row only when a slot is free', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const { source, calls } = noted(['a', 'b', 'c', 'd']);
      const result = pullJobs(source, () => cold('--d|', events), { concurrency: 2 });
      expectObservable(result, '^--!').toBe('---');
      flush();
      expect(calls.next).toBe(2);
    });
  });

  it('passes on never, empty, one and many', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const job = () => cold('-d|', events);
      expectObservable(pullJobs<string, string>([], job, { concurrency: 2 })).toBe('|');
      expectObservable(pullJobs(['a'], job, { concurrency: 2 })).toBe('--(a|)', { a: row('a', 0) });
      expectObservable(pullJobs(['a', 'b'], job, { concurrency: 1 })).toBe('--a-(b|)', {
        a: row('a', 0),
        b: row('b', 1),
      });
      expectObservable(pullJobs(['a'], () => NEVER, { concurrency: 2 })).toBe('-');
    });
  });

  it('takes a failed row, and an input that is not of its schema, as values', async () => {
    const invalid = new InvalidInputError('prompt: is empty');
    const jobs = [of(settled(failed('job-failed', 'no'))), throwError(() => invalid), of(done)];
    const all = await lastValueFrom(pullJobs(jobs, (job) => job, { concurrency: 1 }).pipe(toArray()));
    expect(all.map(({ outcome }) => outcome)).toStrictEqual([
      failed('job-failed', 'no'),
      { status: 'failed', code: 'invalid-row', paid: 'no', message: 'prompt: is empty' },
      completed('out'),
    ]);
  });

  it('emits nothing for a job that ends without an outcome', async () => {
    const jobs = [EMPTY, of(done)];
    const all = await lastValueFrom(pullJobs(jobs, (job) => job, { concurrency: 1 }).pipe(toArray()));
    expect(all.map(({ index }) => index)).toStrictEqual([1]);
  });

  it('unsubscribes every job and returns the iterator when it is unsubscribed', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const { source, calls } = noted(['a', 'b', 'c']);
      const job = cold<JobEvent<string>>('-----d|', events);
      expectObservable(
        pullJobs(source, () => job, { concurrency: 2 }),
        '^--!',
      ).toBe('---');
      expectSubscriptions(job.subscriptions).toBe(['^--!', '^--!']);
      flush();
      expect(calls.returned).toBe(1);
    });
  });

  it('errors when the source throws, when project throws and when a job errors otherwise, after the rows in flight', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('---d|', events);
      const throwing = (function* () {
        yield 'a';
        throw new Error('row 2');
      })();
      expectObservable(pullJobs(throwing, () => job, { concurrency: 2 })).toBe(
        '----(a#)',
        { a: row('a', 0) },
        new Error('row 2'),
      );
      expectSubscriptions(job.subscriptions).toBe('^---!');
      const { source, calls } = noted(['a', 'b']);
      const project = (name: string): Observable<JobEvent<string>> => {
        if (name === 'b') throw new Error('no such row');
        return cold('---d|', events);
      };
      expectObservable(pullJobs(source, project, { concurrency: 2 })).toBe(
        '----(a#)',
        { a: row('a', 0) },
        new Error('no such row'),
      );
      expectObservable(pullJobs(['a'], () => cold('-#'), { concurrency: 2 })).toBe('-#');
      flush();
      expect(calls.returned).toBe(1);
    });
  });

  it.each([undefined, null, {}, Promise.resolve()])(
    'says so where project gives %j, which is not a job',
    (given) => {
      const errors: unknown[] = [];
      pullJobs([1], () => given as never, { concurrency: 1 }).subscribe({
        error: (error) => errors.push(error),
      });
      expect(errors).toMatchObject([{ name: 'InvalidOptionError', option: 'project' }]);
    },
  );

  it('does not return an iterator that has ended', async () => {
    const { source, calls } = noted(['a']);
    await lastValueFrom(pullJobs(source, () => of(done), { concurrency: 3 }));
    expect(calls.returned).toBe(0);
  });

  it('stands a return() that throws', () => {
    const source: Iterable<string> = {
      [Symbol.iterator]: () => ({
        next: () => ({ done: false, value: 'a' }),
        return: () => {
          throw new Error('cannot close');
        },
      }),
    };
    const subscription = pullJobs(source, () => NEVER, { concurrency: 1 }).subscribe();
    expect(() => subscription.unsubscribe()).not.toThrow();
  });

  it('stops in the middle of jobs that end at once', async () => {
    const { source, calls } = noted(Array.from({ length: 100 }, (_, index) => index));
    const all = await lastValueFrom(
      pullJobs(source, () => of(done), { concurrency: 4 }).pipe(take(3), toArray()),
    );
    expect(all).toHaveLength(3);
    expect(calls).toStrictEqual({ next: 3, returned: 1 });
  });

  it('unsubscribes a job that is subscribed while the fan-out ends', () => {
    const other = new Subject<JobEvent<string>>();
    const jobs = [of(done), defer(() => (stop.next(), other))];
    const stop = new Subject<void>();
    const taken: unknown[] = [];
    pullJobs(jobs, (job) => job, { concurrency: 2 })
      .pipe(takeUntil(stop))
      .subscribe((result) => taken.push(result));
    expect(taken).toHaveLength(1);
    expect(other.observed).toBe(false);
  });

  it('runs a hundred thousand jobs that end at once without overflowing the stack', async () => {
    const many = (function* () {
      for (let index = 0; index < 100_000; index++) yield index;
    })();
    const job = of(done);
    let count = 0;
    await new Promise<void>((resolve, reject) => {
      pullJobs(many, () => job, { concurrency: 8 }).subscribe({
        next: () => count++,
        error: reject,
        complete: resolve,
      });
    });
    expect(count).toBe(100_000);
  });
});

describe('pullJobs with a concurrency that changes', () => {
  it('fills new slots at once and lets rows end when there are fewer', () => {
    inVirtualTime(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const slots = hot<number>('1-2---0-----1-|', { 0: 0, 1: 1, 2: 2 });
      const job = cold<JobEvent<string>>('----d|', events);
      const result = pullJobs(['a', 'b', 'c', 'd'], () => job, { concurrency: slots });
      expectSubscriptions(job.subscriptions).toBe([
        '^----!',
        '--^----!',
        '-----^----!',
        '------------^----!',
      ]);
      expectObservable(result).toBe('-----a-b--c------(d|)', {
        a: row('a', 0),
        b: row('b', 1),
        c: row('c', 2),
        d: row('d', 3),
      });
    });
  });

  it('takes nothing at 0', () => {
    inVirtualTime(({ flush, expectObservable }) => {
      const { source, calls } = noted(['a']);
      expectObservable(
        pullJobs(source, () => of(done), { concurrency: 0 }),
        '^---!',
      ).toBe('----');
      flush();
      expect(calls.next).toBe(0);
    });
  });

  it('errors when it errors, when it ends at 0 and when it is no whole number from 0', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const run = (concurrency: number | Observable<number>) =>
        pullJobs(['a'], () => cold('---d|', events), { concurrency });
      expectObservable(run(cold('1-#', { 1: 1 }))).toBe('----(a#)', { a: row('a', 0) });
      for (const bad of [-1, 1.5, Number.NaN]) {
        const error = expect.objectContaining({ code: 'invalid-option', option: 'concurrency' });
        expect(() => run(bad)).toThrow('concurrency: is not a whole number from 0');
        expectObservable(run(cold('-x', { x: bad }))).toBe('-#', undefined, error);
      }
      expectObservable(run(cold('-|'))).toBe('-#', undefined, expect.objectContaining({ code: 'usage' }));
      expectObservable(run(cold('2-|', { 2: 2 }))).toBe('----(a|)', { a: row('a', 0) });
    });
  });

  it('may be infinite', async () => {
    const concurrency = Number.POSITIVE_INFINITY;
    const all = await lastValueFrom(pullJobs(['a', 'b'], () => of(done), { concurrency }).pipe(toArray()));
    expect(all).toHaveLength(2);
  });
});

describe('pullJobs over what is asynchronous', () => {
  async function* lines(count: number, log: string[] = []) {
    try {
      for (let line = 1; line <= count; line++) {
        log.push(`line ${line}`);
        yield line;
      }
    } finally {
      log.push('closed');
    }
  }

  it('pulls a generator row by row', async () => {
    const log: string[] = [];
    const first = new Subject<JobEvent<string>>();
    const taken: number[] = [];
    const results = lastValueFrom(
      pullJobs(
        lines(4, log),
        (line) => {
          taken.push(line);
          return line === 1 ? first : of(done);
        },
        { concurrency: 1 },
      ).pipe(toArray()),
    );
    await new Promise(setImmediate);
    expect(log).toStrictEqual(['line 1']);
    first.next(done);
    first.complete();
    expect((await results).map(({ row: line }) => line)).toStrictEqual([1, 2, 3, 4]);
    expect(log.at(-1)).toBe('closed');
  });

  it('keeps a row that arrives when its slot has been taken away', async () => {
    const slots = new Subject<number>();
    const taken: number[] = [];
    const project = (line: number) => {
      taken.push(line);
      return of(done);
    };
    const results = lastValueFrom(pullJobs(lines(2), project, { concurrency: slots }).pipe(toArray()));
    slots.next(1);
    slots.next(0);
    await new Promise(setImmediate);
    expect(taken).toStrictEqual([]);
    slots.next(1);
    expect(taken).toStrictEqual([1]);
    expect(await results).toHaveLength(2);
  });

  it('closes the generator when it is unsubscribed, and when a job errors', async () => {
    const log: string[] = [];
    const subscription = pullJobs(lines(4, log), () => NEVER, { concurrency: 1 }).subscribe();
    await new Promise(setImmediate);
    subscription.unsubscribe();
    await new Promise(setImmediate);
    expect(log).toStrictEqual(['line 1', 'closed']);
    const other: string[] = [];
    const failing = pullJobs(lines(4, other), () => throwError(() => new Error('disk')), { concurrency: 1 });
    await expect(lastValueFrom(failing)).rejects.toThrow('disk');
    await new Promise(setImmediate);
    expect(other).toStrictEqual(['line 1', 'closed']);
  });

  it('errors when the generator rejects', async () => {
    async function* broken() {
      yield 1;
      throw new Error('line 2');
    }
    await expect(lastValueFrom(pullJobs(broken(), () => of(done), { concurrency: 2 }))).rejects.toThrow(
      'line 2',
    );
  });

  it('reads a Node stream, and destroys one that is waiting for data', async () => {
    const readable = Readable.from(['x', 'y', 'z']);
    const all = await lastValueFrom(pullJobs(readable, () => of(done), { concurrency: 2 }).pipe(toArray()));
    expect(all.map(({ row: chunk }) => chunk as string)).toStrictEqual(['x', 'y', 'z']);
    const silent = new Readable({ objectMode: true, read: () => undefined });
    const subscription = pullJobs(silent, () => of(done), { concurrency: 2 }).subscribe();
    await new Promise(setImmediate);
    subscription.unsubscribe();
    expect(silent.destroyed).toBe(true);
  });

  it('stands a return() that rejects', async () => {
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: () => Promise.reject(new Error('cannot close')),
      }),
    };
    const subscription = pullJobs(source, () => of(done), { concurrency: 1 }).subscribe();
    subscription.unsubscribe();
    await new Promise(setImmediate);
    expect(subscription.closed).toBe(true);
  });
});
