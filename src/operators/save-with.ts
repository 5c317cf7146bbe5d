import {
  AsyncSubject,
  catchError,
  concat,
  concatMap,
  defer,
  ignoreElements,
  of,
  share,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { checkFunction } from '../contract/check-option.js';
import { errorText, InvalidOptionError, MillraceError } from '../contract/millrace-error.js';
import type { Outcome } from '../contract/outcome.js';
import { awaitable } from '../policy/guard-hooks.js';
import { jobOperator, type JobOperator } from './job.js';
import { isNoEvent } from './to-outcome.js';

/**
 * Saves the outcome of a job before the job ends: `settled` is emitted, and the job completes, when `save` has completed. In a
 * fan-out the row keeps its slot until then, so that at most `concurrency` rows are bought ahead of the saved ones.
 * `concatMap(save)` after the fan-out would free the slot at once, and buy far ahead of a slow store.
 *
 * A job stays a job. Its outcome is saved once for all subscribers, even if they leave meanwhile. If `save` fails, the stream
 * errors with code `not-saved`, and the outcome is kept: the next subscriber, such as `retry` after a fan-out, saves it again
 * and buys nothing. After a stream of anything but a job's events, such as a fan-out, it errors with an {@link InvalidOptionError}.
 *
 * @param save returns a promise, a stream, or anything that rxjs converts to one
 *
 * @example
 * ```ts
 * const saved = pullJobs(rows, (row) => edit.run(row).pipe(saveWith(async (outcome) => save(row, outcome))), { concurrency: 8 });
 * saved.pipe(retry(3)).subscribe();
 * ```
 */
export function saveWith<O>(save: (outcome: Outcome<O>) => ObservableInput<unknown>): JobOperator<O, O> {
  checkFunction('save', save);
  const saves = new WeakMap<Outcome<unknown>, Observable<never>>();
  const saved = (outcome: Outcome<O>): Observable<never> => {
    const known = saves.get(outcome) ?? savedOnce(outcome, save);
    saves.set(outcome, known);
    return known;
  };
  return jobOperator<O>((events) =>
    events.pipe(
      concatMap((event) => {
        if (isNoEvent(event)) throw new InvalidOptionError('saveWith', notBehindJob);
        return event.type === 'settled' ? concat(saved(event.outcome as Outcome<O>), of(event)) : of(event);
      }),
    ),
  );
}

const notBehindJob =
  'is used after a stream that is not a job, and would save nothing: pipe the job itself through it, within `project` of a fan-out';

function savedOnce<O>(
  outcome: Outcome<O>,
  save: (outcome: Outcome<O>) => ObservableInput<unknown>,
): Observable<never> {
  return defer(() => awaitable('save', save(outcome))).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      throw notSaved(outcome, error);
    }),
    share({
      connector: () => new AsyncSubject<never>(),
      resetOnComplete: false,
      resetOnRefCountZero: false,
    }),
  );
}

function notSaved({ jobId = '' }: Outcome<unknown>, cause: unknown): MillraceError {
  const why = errorText(cause);
  const what = jobId === '' ? 'an outcome' : `the outcome of job ${jobId}`;
  return new MillraceError('not-saved', `saveWith: ${what} is not saved: ${why}`, { cause });
}
