import type { Observable } from 'rxjs';
import { checkNames, isObject } from '../../contract/check-option.js';
import { InvalidOptionError } from '../../contract/millrace-error.js';
import type { JobEvent } from '../../contract/outcome.js';
import { checkFanOut, FanOut, type OnError } from './fan-out.js';
import { asPulledJobs, type PulledJobs } from './pulled-jobs.js';
import { feedOf } from './row-feed.js';

/** Options of `pullJobs`. */
export interface PullOptions {
  /**
   * Rows in flight, a whole number from 0; 0 pauses. An Observable changes it during the run: additional slots are filled at
   * once, and a lower number is reached as rows end. After it completes, its last number stays; if that is 0 and rows are left,
   * the stream errors.
   */
  concurrency: number | Observable<number>;
  /**
   * What happens to rows in flight after an error. `drain`: no more rows are taken; those in flight are followed to their end
   * and emitted, then the stream errors with the first error. `stop`: the stream errors at once. @defaultValue 'drain'
   */
  onError?: OnError | undefined;
  /**
   * How many of the last outcomes a later subscriber receives first, from 0: after a `retry`, for instance, these may not have
   * been processed. They are kept in memory. An iteration receives none. @defaultValue 100
   */
  replay?: number | undefined;
}

/**
 * Runs a job for each row and pulls a row only when a slot is free, from an array, a generator, an async iterable or a Node
 * stream. Emits in order of completion; a failed row is a value. A slot is free when its job completes. Errors if the source,
 * `project` or `concurrency` fails, or if a job errors for another reason than its input; see `onError` for the rows in flight.
 * Unsubscribing unsubscribes from every job and returns the iterator: no further row is taken, and a row that was just taken is
 * not bought. It also works with `for await` and `Readable.from`, with back-pressure from end to end.
 *
 * One call is one run, as a job is one purchase. A second subscriber joins it. A subscriber after all have left, such as
 * `retry`, continues it: it joins the jobs in flight, and the remaining rows are taken. Nothing is bought again; for that, call
 * `pullJobs` again. The error of a job ends the run only for its present subscribers, and `retry` joins that job again: with
 * `saveWith` its outcome is saved once more. Leaving a run, or its error, closes a generator or stream: a later subscriber then
 * receives the jobs in flight, and after them the error `source-closed`. An array continues. `project` should return a job:
 * another stream (`defer`, `concat`) begins anew when it is subscribed again, and may buy again.
 *
 * @example
 * ```ts
 * pullJobs(rows, (row) => endpoint.run(row), { concurrency: 8 }).subscribe(({ row, outcome }) => save(row, outcome));
 * ```
 * @throws InvalidOptionError
 */
export function pullJobs<T, O>(
  source: Iterable<T> | AsyncIterable<T>,
  project: (row: T, index: number) => Observable<JobEvent<O>>,
  options: PullOptions,
): PulledJobs<T, O> {
  checkSource(source);
  checkNames(options, 'pullJobs', ['concurrency', 'onError', 'replay']);
  const { concurrency, onError, replay = 100 } = options;
  checkFanOut({ project, concurrency, replay, onError });
  let run: FanOut<T, O> | undefined;
  const begun = (): FanOut<T, O> => {
    const fill = () => fanOut.fill();
    const fail = (error: unknown) => fanOut.fail(error);
    const fanOut = new FanOut<T, O>(feedOf(source, { fill, fail }), { project, onError });
    return fanOut;
  };
  return asPulledJobs((subscriber, slots) => (run ??= begun()).play(subscriber, slots), concurrency, replay);
}

/** Refuses a text, such as a path: it is iterable, but its letters are not rows. @throws InvalidOptionError */
function checkSource(source: object): void {
  if (isObject(source) && (Symbol.iterator in source || Symbol.asyncIterator in source)) return;
  const problem =
    'cannot be iterated: give an array, a generator or a stream of Node.js; an Observable goes through mergeJobs';
  throw new InvalidOptionError('source', problem);
}
