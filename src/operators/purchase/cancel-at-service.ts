import { catchError, EMPTY, filter, map, type Observable } from 'rxjs';
import type { Outcome } from '../../contract/outcome.js';
import { isTerminal } from '../../contract/service-replies.js';
import { ask } from '../requests/ask-until-answered.js';
import type { ClientContext } from '../requests/exchange.js';
import { outcomeOf } from '../requests/outcome-of.js';
import type { JobSpec } from './job-spec.js';

/**
 * The /cancel of a job: emits the outcome where the answer is an end of the job. A job that has completed meanwhile is paid,
 * and ends by a poll, which brings its output. Never errors: polls go on where there was no answer.
 */
export function cancelAtService(
  jobId: string,
  { key, queue, options, trace }: Pick<JobSpec<unknown>, 'key' | 'queue' | 'options' | 'trace'>,
  context: ClientContext,
): Observable<Outcome<unknown>> {
  if (queue === undefined) return EMPTY;
  const request = queue.cancel(jobId);
  return ask({ purpose: 'cancel', key, request, jobId, trace }, { retry: options.retry }, context).pipe(
    map((reading) => ('job' in reading ? reading.job : undefined)),
    filter((job) => job !== undefined && isTerminal(job.status) && job.status !== 'COMPLETED'),
    map((job) => outcomeOf({ ...job, id: jobId } as Parameters<typeof outcomeOf>[0], request)),
    catchError(() => EMPTY),
  );
}
