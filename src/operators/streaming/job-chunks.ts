import { defer, EMPTY, mergeMap, throwError, type Observable } from 'rxjs';
import type { FailureCode } from '../../contract/failure-code.js';
import type { Outcome } from '../../contract/outcome.js';
import { JobError } from '../job-error.js';
import type { Job } from '../job.js';

/** Ends that the service itself reports. The reader of the chunks reports them too, after the last chunk. */
const knownToTheService: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'job-failed',
  'job-cancelled',
  'job-timed-out',
  'charged',
  'output-mismatch',
]);

/**
 * Subscribes to a job, so that it is bought, and to its chunks as soon as its id is known. Completes when both have completed.
 * Errors with a `JobError` if the job ends without an id, or in a way that the chunks do not show.
 *
 * @param chunksOf the chunks of a job by its id; called once
 */
export function jobChunks<O, C>(job: Job<O>, chunksOf: (jobId: string) => Observable<C>): Observable<C> {
  let chunks: Observable<C> | undefined;
  return defer(() => {
    let hasBegun = false;
    return job.pipe(
      mergeMap((event) => {
        const { jobId } = job;
        if (event.type === 'settled' && !showsInChunks(event.outcome, jobId)) return fail(event.outcome);
        if (jobId === undefined || hasBegun) return EMPTY;
        hasBegun = true;
        return (chunks ??= chunksOf(jobId));
      }),
    );
  });
}

function showsInChunks(outcome: Outcome<unknown>, jobId: string | undefined): boolean {
  return jobId !== undefined && (outcome.status === 'completed' || knownToTheService.has(outcome.code));
}

function fail(outcome: Outcome<unknown>): Observable<never> {
  return outcome.status === 'failed' ? throwError(() => new JobError(outcome)) : EMPTY;
}
