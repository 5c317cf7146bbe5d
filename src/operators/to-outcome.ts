import { catchError, filter, map, of, type OperatorFunction, take } from 'rxjs';
import { InvalidOptionError, isMillraceError } from '../contract/millrace-error.js';
import type { Failed, JobEvent, Outcome } from '../contract/outcome.js';
import { JobError } from './job-error.js';

/**
 * The outcome of a job: one value, then completion. An input that does not match its schema is an outcome as well
 * (`invalid-row`, paid `no`). It errors only for reasons outside the row, such as a checkpoint that could not be written, or an
 * abort.
 *
 * @example
 * ```ts
 * const outcome = await firstValueFrom(endpoint.run({ text: 'hello' }).pipe(toOutcome()));
 * ```
 */
export function toOutcome<O>(): OperatorFunction<JobEvent<O>, Outcome<O>> {
  return (job) =>
    job.pipe(
      filter((event) => event.type === 'settled'),
      map((event) => event.outcome),
      catchError((error: unknown) => {
        const invalid = asInvalidRow(error);
        if (invalid === undefined) throw error;
        return of(invalid);
      }),
      take(1),
    );
}

/** Detects a value that is no event of a job, such as a row of a fan-out or an outcome, where no type shows it. */
export function isNoEvent(event: unknown): boolean {
  return (Object(event) as Partial<JobEvent<unknown>>).type === undefined;
}

/** The error for a `project` whose stream emits such a value: an operator that waits for `settled` would lose it. */
export function notOfEvents(): InvalidOptionError {
  const problem =
    'returned a stream of something other than the events of a job: leave out toOutcome() and toOutput() there';
  return new InvalidOptionError('project', problem);
}

/** The outcome for an invalid input; `undefined` for any other error. */
export function asInvalidRow(error: unknown): Failed | undefined {
  if (!isMillraceError(error) || error.code !== 'invalid-input') return undefined;
  return { status: 'failed', code: 'invalid-row', paid: 'no', message: error.message };
}

/**
 * The output of a job: one value, then completion. If the job does not complete, it errors with a `JobError`.
 *
 * @example
 * ```ts
 * endpoint.run({ text: 'hello' }).pipe(toOutput(), catchError((error: JobError) => of(fallback(error.code))));
 * ```
 */
export function toOutput<O>(): OperatorFunction<JobEvent<O>, O> {
  return (job) =>
    job.pipe(
      toOutcome<O>(),
      map((outcome) => {
        if (outcome.status === 'failed') throw new JobError(outcome);
        return outcome.output;
      }),
    );
}
