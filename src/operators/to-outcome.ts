import { catchError, filter, map, of, take, type OperatorFunction } from 'rxjs';
import { isMillraceError } from '../contract/millrace-error.js';
import type { Failed, JobEvent, Outcome } from '../contract/outcome.js';

/**
 * How the job ended: one Outcome, then completion. An input that is not of its schema is an outcome as well
 * (`invalid-row`, paid `no`). What errors is never a row's failure: a checkpoint that could not be written, an abort.
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

/** The outcome that stands for a misused input, or `undefined` for any other error. */
export function asInvalidRow(error: unknown): Failed | undefined {
  if (!isMillraceError(error) || error.code !== 'invalid-input') return undefined;
  return { status: 'failed', code: 'invalid-row', paid: 'no', message: error.message };
}
