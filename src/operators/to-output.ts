import { map, type OperatorFunction } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import { JobError } from './job-error.js';
import { toOutcome } from './to-outcome.js';

/**
 * The output of a job that completes: one value, then completion. Any other end errors with a `JobError`.
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
