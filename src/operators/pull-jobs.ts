import { Observable } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import { FanOut, type Feed, type OnError, type RowOutcome } from './fan-out.js';
import { asPulledJobs, type PulledJobs } from './pulled-jobs.js';

/** Options of `pullJobs`. */
export interface PullOptions {
  /**
   * Rows in flight, a whole number from 0; 0 pauses. An Observable changes it meanwhile: more slots are filled at once,
   * fewer are reached as rows end. Once it has completed, its last number stays; where that is 0, rows that are left are
   * an error.
   */
  concurrency: number | Observable<number>;
  /**
   * What an error does to the rows in flight. `drain`: no more rows are taken, those in flight are followed to their end
   * and emitted, then the stream errors with the first error. `stop`: the stream errors at once. @defaultValue 'drain'
   */
  onError?: OnError;
}

/**
 * Runs a job a row and pulls a row only for a free slot, from an array, a generator, an async iterable or a Node stream.
 * Emits in order of completion; a failed row is a value. A slot is free when its job completes. Errors when the source,
 * `project` or `concurrency` fails, or when a job errors other than by its input; see `onError` for the rows in flight.
 * Unsubscribing unsubscribes every job and returns the iterator: no other row is taken, and one that was just taken is not
 * bought. `for await` and `Readable.from` take it too, with back-pressure from end to end.
 *
 * @example
 * ```ts
 * pullJobs(rows, (row) => endpoint.run(row), { concurrency: 8 }).subscribe(({ row, outcome }) => save(row, outcome));
 * ```
 */
export function pullJobs<T, O>(
  source: Iterable<T> | AsyncIterable<T>,
  project: (row: T, index: number) => Observable<JobEvent<O>>,
  { concurrency, onError }: PullOptions,
): PulledJobs<T, O> {
  const pull = (slots: number | Observable<number>) =>
    new Observable<RowOutcome<T, O>>((subscriber) => {
      const fill = () => fanOut.fill();
      const fail = (error: unknown) => fanOut.fail(error);
      const feed = Symbol.asyncIterator in source ? asyncFeed(source, fill, fail) : syncFeed(source);
      const fanOut = new FanOut<T, O>(feed, { project, concurrency: slots, onError }, subscriber);
      fanOut.start();
    });
  return asPulledJobs(pull, concurrency);
}

function syncFeed<T>(source: Iterable<T>): Feed<T> {
  const iterator = source[Symbol.iterator]();
  let isOpen = true;
  let isPulling = false;
  /** Returns the iterator, unless it has ended. A generator that is running cannot be returned: it is when it yields. */
  const leave = () => {
    if (isOpen && !isPulling) quietly(() => iterator.return?.());
  };
  let isLeft = false;
  return {
    take() {
      isPulling = true;
      try {
        const result = iterator.next();
        isOpen = result.done !== true;
        return result;
      } catch (error) {
        isOpen = false;
        throw error;
      } finally {
        isPulling = false;
        if (isLeft) leave();
      }
    },
    close() {
      isLeft = true;
      leave();
    },
  };
}

/** One `next()` at a time; a row that arrives when its slot has been taken away waits for another. */
function asyncFeed<T>(source: AsyncIterable<T>, fill: () => void, fail: (error: unknown) => void): Feed<T> {
  const iterator = source[Symbol.asyncIterator]();
  let isOpen = true;
  let asked = false;
  let arrived: IteratorResult<T, unknown> | undefined;
  const arrive = (result: IteratorResult<T, unknown>) => {
    asked = false;
    arrived = result;
    isOpen = result.done !== true;
    fill();
  };
  const refuse = (error: unknown) => {
    isOpen = false;
    fail(error);
  };
  const ask = () => {
    asked = true;
    try {
      iterator.next().then(arrive, refuse);
    } catch (error) {
      refuse(error);
    }
  };
  return {
    take() {
      if (arrived !== undefined) {
        const result = arrived;
        arrived = undefined;
        return result;
      }
      if (!asked) ask();
      return undefined;
    },
    close() {
      if (isOpen) quietly(() => iterator.return?.());
      if (isOpen && asked) quietly(() => (source as { destroy?: () => unknown }).destroy?.());
    },
  };
}

/** The stream has ended already, and nobody is left to report to. A stream that waits for data ends only by `destroy`. */
function quietly(end: () => unknown): void {
  try {
    Promise.resolve(end()).catch(() => undefined);
  } catch {
    // see above
  }
}
