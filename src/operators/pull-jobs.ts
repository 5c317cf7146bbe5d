import { Observable } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import { FanOut, type Feed, type RowOutcome } from './fan-out.js';
import { asPulledJobs, type PulledJobs } from './pulled-jobs.js';

/** Options of `pullJobs`. */
export interface PullOptions {
  /**
   * Rows in flight, a whole number from 0; 0 pauses. An Observable changes it meanwhile: more slots are filled at once,
   * fewer are reached as rows end. Once it has completed, its last number stays; where that is 0, rows that are left are
   * an error.
   */
  concurrency: number | Observable<number>;
}

/**
 * Runs a job a row and pulls a row only for a free slot, from an array, a generator, an async iterable or a Node stream.
 * Emits in order of completion; a failed row is a value. A slot is free when its job completes. Errors when the source
 * or `project` throws, or when a job errors other than by its input. Unsubscribing returns the iterator and unsubscribes
 * every job. `for await` and `Readable.from` take it too, with back-pressure from end to end.
 *
 * @example
 * ```ts
 * pullJobs(rows, (row) => endpoint.run(row), { concurrency: 8 }).subscribe(({ row, outcome }) => save(row, outcome));
 * ```
 */
export function pullJobs<T, O>(
  source: Iterable<T> | AsyncIterable<T>,
  project: (row: T, index: number) => Observable<JobEvent<O>>,
  { concurrency }: PullOptions,
): PulledJobs<T, O> {
  const pull = (slots: number | Observable<number>) =>
    new Observable<RowOutcome<T, O>>((subscriber) => {
      const fill = () => fanOut.fill();
      const fail = (error: unknown) => fanOut.fail(error);
      const feed = Symbol.asyncIterator in source ? asyncFeed(source, fill, fail) : syncFeed(source);
      const fanOut = new FanOut<T, O>(feed, { project, concurrency: slots }, subscriber);
      fanOut.start();
    });
  return asPulledJobs(pull, concurrency);
}

function syncFeed<T>(source: Iterable<T>): Feed<T> {
  const iterator = source[Symbol.iterator]();
  return {
    take: () => iterator.next(),
    close: () => quietly(() => iterator.return?.()),
  };
}

/** One `next()` at a time; a row that arrives when its slot has been taken away waits for another. */
function asyncFeed<T>(source: AsyncIterable<T>, fill: () => void, fail: (error: unknown) => void): Feed<T> {
  const iterator = source[Symbol.asyncIterator]();
  let asked = false;
  let arrived: IteratorResult<T, unknown> | undefined;
  const arrive = (result: IteratorResult<T, unknown>) => {
    asked = false;
    arrived = result;
    fill();
  };
  return {
    take() {
      if (arrived !== undefined) {
        const result = arrived;
        arrived = undefined;
        return result;
      }
      if (!asked) {
        asked = true;
        iterator.next().then(arrive, fail);
      }
      return undefined;
    },
    close() {
      quietly(() => iterator.return?.());
      if (asked) quietly(() => (source as { destroy?: () => unknown }).destroy?.());
    },
  };
}

/** The stream has ended already: nobody is left to be told. A stream that waits for data answers only to `destroy`. */
function quietly(end: () => unknown): void {
  try {
    Promise.resolve(end()).catch(() => undefined);
  } catch {
    // see above
  }
}
