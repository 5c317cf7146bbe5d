import {
  BehaviorSubject,
  defer,
  EMPTY,
  finalize,
  lastValueFrom,
  NEVER,
  Observable,
  of,
  range,
  Subject,
  take,
  takeUntil,
  throwError,
  toArray,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../../src/contract/millrace-error.js';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { iterate } from '../../../../src/operators/iterate.js';
import type { Job } from '../../../../src/operators/job.js';
import { mergeJobs } from '../../../../src/operators/fan-out/merge-jobs.js';
import { pullJobs } from '../../../../src/operators/fan-out/pull-jobs.js';
import { clientOver } from '../../../support/client-over.js';
import { completed, jobEvents as events, settled } from '../../../../src/testing/in-virtual-time.js';
import { inVirtualTime, replied } from '../../../support/virtual-time.js';

const done = settled(completed('out'));
const instantly = () => of<JobEvent<string>>(done);
const row = (value: string, index: number) => ({ row: value, index, outcome: completed('out') });
const turn = () => new Promise(setImmediate);

const isIterable = (stream: object): stream is AsyncIterable<{ row: number }> =>
  Symbol.asyncIterator in stream;

/** Rows without end that say how many were taken and how often they were closed. */
function endless() {
  const seen = { taken: 0, closed: 0 };
  function* rows() {
    try {
      for (;;) {
        // A test that fails is to end, too.
        if (seen.taken === 5_000) throw new Error('nobody stopped');
        yield seen.taken++;
      }
    } finally {
      seen.closed += 1;
    }
  }
  return { seen, rows: rows() };
}

/** The same as a stream that emits in a loop while it is subscribed. */
function endlessStream() {
  const seen = { taken: 0, closed: 0 };
  const rows = new Observable<number>((subscriber) => {
    subscriber.add(() => (seen.closed += 1));
    while (!subscriber.closed && seen.taken < 5_000) subscriber.next(seen.taken++);
  });
  return { seen, rows };
}

/** A real endpoint whose jobs are paid as soon as they are subscribed, and end when `answer` is called. */
function shop() {
  const replies: Subject<ReturnType<typeof replied>>[] = [];
  const { client, sent } = clientOver(undefined, {
    transport: (request) => {
      sent.push(request);
      const reply = new Subject<ReturnType<typeof replied>>();
      replies.push(reply);
      return reply;
    },
  });
  const answer = (index: number) => {
    replies[index]!.next(replied(200, { id: `job-${index}`, status: 'COMPLETED', output: { index } }));
    replies[index]!.complete();
  };
  return { client, endpoint: client.queue('echo'), sent, answer };
}

describe('a fan-out that is left takes, projects and buys nothing more', () => {
  it('in project: the row is not bought', () => {
    const { endpoint, sent } = shop();
    const { seen, rows } = endless();
    const stop = new Subject<void>();
    const project = (index: number) => {
      if (index === 1) stop.next();
      return endpoint.run({ index });
    };
    pullJobs(rows, project, { concurrency: 4 }).pipe(takeUntil(stop)).subscribe();
    expect(sent).toHaveLength(1);
    expect(seen).toStrictEqual({ taken: 2, closed: 1 });
    const merged = shop();
    range(0, 9)
      .pipe(
        mergeJobs(
          (index) => {
            if (index === 1) stop.next();
            return merged.endpoint.run({ index });
          },
          { concurrency: 4 },
        ),
        takeUntil(stop),
      )
      .subscribe();
    expect(merged.sent).toHaveLength(1);
  });

  it('in the generator: it is closed as soon as it yields, once, and its row is not projected', () => {
    const stop = new Subject<void>();
    const seen = { projected: 0, closed: 0 };
    function* rows() {
      try {
        yield 1;
        stop.next();
        yield 2;
        throw new Error('asked again');
      } finally {
        seen.closed += 1;
      }
    }
    const project = () => {
      seen.projected += 1;
      return NEVER;
    };
    pullJobs(rows(), project, { concurrency: 4 }).pipe(takeUntil(stop)).subscribe();
    expect(seen).toStrictEqual({ projected: 1, closed: 1 });
  });

  it('in the first step of an asynchronous generator', async () => {
    const stop = new Subject<void>();
    const seen = { projected: 0, closed: 0 };
    async function* rows() {
      try {
        stop.next();
        await turn();
        yield 1;
      } finally {
        seen.closed += 1;
      }
    }
    const project = () => {
      seen.projected += 1;
      return NEVER;
    };
    pullJobs(rows(), project, { concurrency: 4 }).pipe(takeUntil(stop)).subscribe();
    await turn();
    await turn();
    expect(seen).toStrictEqual({ projected: 0, closed: 1 });
  });

  it('in the next of its subscriber, over rows without end', async () => {
    const pulled = endless();
    const jobs = pullJobs(pulled.rows, instantly, { concurrency: 4 });
    expect(await lastValueFrom(jobs.pipe(take(3), toArray()))).toHaveLength(3);
    expect(pulled.seen).toStrictEqual({ taken: 3, closed: 1 });
    const pushed = endlessStream();
    const merged = pushed.rows.pipe(mergeJobs(instantly, { concurrency: 4 }), take(3), toArray());
    expect(await lastValueFrom(merged)).toHaveLength(3);
    expect(pushed.seen).toStrictEqual({ taken: 3, closed: 1 });
  });

  it('in an emission of concurrency, also of one without end', () => {
    const { seen, rows } = endless();
    const sizes = endlessStream();
    let jobs = 0;
    const project = () => {
      jobs += 1;
      return instantly();
    };
    pullJobs(rows, project, { concurrency: sizes.rows }).pipe(take(1)).subscribe();
    expect({ jobs, ...seen }).toStrictEqual({ jobs: 1, taken: 1, closed: 1 });
    expect(sizes.seen).toStrictEqual({ taken: 2, closed: 1 });
  });

  it('by a listener of activity$ while a job is being subscribed: what was not sent is not sent', () => {
    const waits = { admit: () => of({ why: 'gate', forMs: 5 } as const), observe: () => undefined };
    const { client, sent } = clientOver(undefined, { gate: waits });
    const { seen, rows } = endless();
    const stop = new Subject<void>();
    client.activity$.subscribe((event) => {
      if (event.type === 'waiting') stop.next();
    });
    pullJobs(rows, (index) => client.queue('echo').run({ index }), { concurrency: 4 })
      .pipe(takeUntil(stop))
      .subscribe();
    expect(sent).toStrictEqual([]);
    expect(seen).toStrictEqual({ taken: 1, closed: 1 });
  });

  it('while a job is being subscribed that emits without end', () => {
    const { seen, rows } = endless();
    let emitted = 0;
    const stop = new Subject<void>();
    const job = new Observable<JobEvent<string>>((subscriber) => {
      for (; !subscriber.closed && emitted < 5_000; emitted += 1) {
        if (emitted === 2) stop.next();
        subscriber.next(events.q);
      }
    });
    pullJobs(rows, () => job, { concurrency: 4 })
      .pipe(takeUntil(stop))
      .subscribe();
    expect(emitted).toBe(3);
    expect(seen).toStrictEqual({ taken: 1, closed: 1 });
  });

  it('by the return of its iterator, while next is pending and from within project', async () => {
    const pending = endless();
    const waiting = pullJobs(pending.rows, () => NEVER, { concurrency: 2 })[Symbol.asyncIterator]();
    const next = waiting.next();
    await waiting.return!();
    expect(await next).toStrictEqual({ done: true, value: undefined });
    expect(pending.seen).toStrictEqual({ taken: 2, closed: 1 });
    const { endpoint, sent } = shop();
    const within = endless();
    const iterator = pullJobs(
      within.rows,
      (index) => {
        void iterator.return!();
        return endpoint.run({ index });
      },
      { concurrency: 2 },
    )[Symbol.asyncIterator]();
    expect(await iterator.next()).toStrictEqual({ done: true, value: undefined });
    expect({ ...within.seen, sent: sent.length }).toStrictEqual({ taken: 1, closed: 1, sent: 0 });
  });

  it('by the return of an iterator over a stream that emits without end', async () => {
    const { seen, rows } = endlessStream();
    const stream = new Observable<number>((subscriber) => {
      rows.subscribe(subscriber);
    });
    const iterator = iterate(
      defer(() => {
        void iterator.return!();
        return stream;
      }),
    );
    expect(await iterator.next()).toStrictEqual({ done: true, value: undefined });
    expect(seen.taken).toBe(0);
  });

  it('does not return a source that has thrown', async () => {
    let returned = 0;
    const broken = (thrown: () => never) => ({
      next: thrown,
      return: () => {
        returned += 1;
        return { done: true as const, value: undefined };
      },
    });
    const fault = (): never => {
      throw new Error('row 1');
    };
    const iterable: Iterable<number> = { [Symbol.iterator]: () => broken(fault) };
    const asynchronous = {
      [Symbol.asyncIterator]: () => broken(fault),
    } as unknown as AsyncIterable<number>;
    for (const source of [iterable, asynchronous])
      await expect(lastValueFrom(pullJobs(source, instantly, { concurrency: 2 }))).rejects.toThrow('row 1');
    expect(returned).toBe(0);
  });

  it('keeps a row for the next slot when taking it took its slot away', async () => {
    const slots = new BehaviorSubject(1);
    const projected: number[] = [];
    function* rows() {
      slots.next(0);
      yield 1;
    }
    const project = (index: number) => {
      projected.push(index);
      return instantly();
    };
    const all = lastValueFrom(pullJobs(rows(), project, { concurrency: slots }).pipe(toArray()));
    expect(projected).toStrictEqual([]);
    slots.next(1);
    expect(await all).toHaveLength(1);
  });
});

describe('a fan-out that fails follows the rows in flight to their end', () => {
  /** Two rows are paid and in flight when the third thing happens. */
  const flights = {
    'the source': ({ endpoint }: ReturnType<typeof shop>, fault: Error) =>
      pullJobs(
        (function* () {
          yield* [0, 1];
          throw fault;
        })(),
        (index) => endpoint.run({ index }),
        { concurrency: 5 },
      ),
    'a source that rejects': ({ endpoint }: ReturnType<typeof shop>, fault: Error) =>
      pullJobs(
        (async function* () {
          await turn();
          yield* [0, 1];
          throw fault;
        })(),
        (index) => endpoint.run({ index }),
        { concurrency: 5 },
      ),
    project: ({ endpoint }: ReturnType<typeof shop>, fault: Error) =>
      pullJobs([0, 1, 2, 3], (index) => (index === 2 ? thrown(fault) : endpoint.run({ index })), {
        concurrency: 5,
      }),
    'what is not a job': ({ endpoint }: ReturnType<typeof shop>) =>
      pullJobs(
        [0, 1, 2, 3],
        (index) => (index === 2 ? (undefined as unknown as Job<unknown>) : endpoint.run({ index })),
        { concurrency: 5 },
      ),
    'a checkpoint': ({ endpoint }: ReturnType<typeof shop>, fault: Error) =>
      pullJobs(
        [0, 1, 2, 3],
        (index) =>
          endpoint.run({ index }, { checkpoint: () => (index === 2 ? throwError(() => fault) : EMPTY) }),
        { concurrency: 3 },
      ),
    concurrency: ({ endpoint }: ReturnType<typeof shop>, fault: Error) =>
      pullJobs([0, 1, 2, 3], (index) => endpoint.run({ index }), {
        concurrency: new Observable<number>((slots) => {
          slots.next(2);
          slots.error(fault);
        }),
      }),
    'the stream of mergeJobs': ({ endpoint }: ReturnType<typeof shop>, fault: Error) =>
      new Observable<number>((rows) => {
        for (const index of [0, 1, 2, 3]) rows.next(index);
        rows.error(fault);
      }).pipe(mergeJobs((index) => endpoint.run({ index }), { concurrency: 2 })),
    'project of mergeJobs': ({ endpoint }: ReturnType<typeof shop>, fault: Error) =>
      of(0, 1, 2, 3).pipe(
        mergeJobs((index) => (index === 2 ? thrown(fault) : endpoint.run({ index })), { concurrency: 5 }),
      ),
  };
  const thrown = (fault: Error): never => {
    throw fault;
  };

  it.each(Object.entries(flights))('%s', async (kind, flight) => {
    const market = shop();
    const fault = kind === 'what is not a job' ? expect.any(InvalidOptionError) : new Error('broken');
    const seen: unknown[] = [];
    flight(market, fault as Error).subscribe({
      next: ({ row: index }) => seen.push(index),
      error: (error: unknown) => seen.push(error),
      complete: () => seen.push('completed'),
    });
    await turn();
    await turn();
    expect(seen).toStrictEqual([]);
    expect(market.sent).toHaveLength(2);
    market.answer(1);
    expect(seen).toStrictEqual([1]);
    market.answer(0);
    expect(seen).toStrictEqual([1, 0, fault]);
    expect(market.sent).toHaveLength(2);
  });

  it.each(Object.entries(flights))('%s, in an iteration', async (kind, flight) => {
    const market = shop();
    const fault = kind === 'what is not a job' ? expect.any(InvalidOptionError) : new Error('broken');
    const seen: unknown[] = [];
    const stream = flight(market, fault as Error);
    const outcomes = isIterable(stream) ? stream : iterate<{ row: number }>(stream);
    const read = (async () => {
      for await (const { row: index } of outcomes) seen.push(index);
    })().catch((error: unknown) => seen.push(error));
    await turn();
    await turn();
    market.answer(0);
    market.answer(1);
    await read;
    expect(seen).toStrictEqual([0, 1, fault]);
    expect(market.sent).toHaveLength(2);
  });

  it('by time: no row is taken after the error, and the first error is the one of the stream', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const jobs: Record<string, ReturnType<typeof cold<JobEvent<string>>>> = {
        a: cold('s----d|', events),
        b: cold('s-#', events, new Error('first')),
        c: cold('s--d#', events, new Error('second')),
      };
      const never = cold<JobEvent<string>>('d|', events);
      const result = pullJobs(['a', 'b', 'c', 'd'], (name) => jobs[name] ?? never, { concurrency: 3 });
      const rows = { a: row('a', 0), c: row('c', 2) };
      expectObservable(result).toBe('----c-(a#)', rows, new Error('first'));
      expectSubscriptions(jobs.a!.subscriptions).toBe('^-----!');
      expectSubscriptions(never.subscriptions).toBe([]);
    });
  });

  it('errors at once, and leaves the jobs, where it is told to stop', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('s---d|', events);
      const broken = cold<JobEvent<string>>('s-#', events);
      const project = (name: string) => (name === 'a' ? job : broken);
      expectObservable(pullJobs(['a', 'b'], project, { concurrency: 2, onError: 'stop' })).toBe('--#');
      expectSubscriptions(job.subscriptions).toBe('^-!');
      const merged = cold<JobEvent<string>>('s---d|', events);
      const rows = cold('a-#');
      expectObservable(rows.pipe(mergeJobs(() => merged, { concurrency: 2, onError: 'stop' }))).toBe('--#');
      expectSubscriptions(merged.subscriptions).toBe('^-!');
    });
  });

  it('is left while it drains', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('s-----d|', events);
      const rows = cold('a-#');
      expectObservable(rows.pipe(mergeJobs(() => job, { concurrency: 2 })), '^---!').toBe('----');
      expectSubscriptions(job.subscriptions).toBe('^---!');
      expectSubscriptions(rows.subscriptions).toBe('^-!');
    });
  });

  it('frees what a job holds before its outcome is emitted', () => {
    const order: string[] = [];
    const job = new Subject<JobEvent<string>>();
    const held = job.pipe(finalize(() => order.push('torn down')));
    pullJobs([1], () => held, { concurrency: 1 }).subscribe(() => order.push('outcome'));
    job.next(done);
    job.complete();
    expect(order).toStrictEqual(['torn down', 'outcome']);
  });

  it('goes on after a subscriber that throws, which rxjs reports', async () => {
    const { config } = await import('rxjs');
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => void reported.push(error);
    const rows: number[] = [];
    pullJobs([1, 2, 3], instantly, { concurrency: 1 }).subscribe(({ row: index }) => {
      rows.push(index);
      if (index === 1) throw new Error('broken');
    });
    await new Promise((resolve) => setTimeout(resolve));
    config.onUnhandledError = null;
    expect(rows).toStrictEqual([1, 2, 3]);
    expect(reported).toStrictEqual([new Error('broken')]);
  });
});
