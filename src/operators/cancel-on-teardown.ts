import { Observable } from 'rxjs';
import { InvalidOptionError } from '../contract/millrace-error.js';
import type { JobEvent } from '../contract/outcome.js';
import { cancelJob, factsOf, type Job } from './job.js';

/**
 * The events of a job. If this subscription ends before the job does, the job is cancelled at the service, even if its id has
 * not arrived yet. For other subscribers the job then ends as `job-cancelled`. Use it for single subscriptions; with
 * `onUnsubscribe: 'cancel'` an endpoint cancels when the last subscriber has left. It comes directly after the job, or after an
 * operator that gives a job: what `map` and the like give cannot be cancelled.
 *
 * @throws InvalidOptionError for a stream that is not a job
 */
export function cancelOnTeardown<O>(job: Job<O>): Observable<JobEvent<O>> {
  if (factsOf(job) === undefined)
    throw new InvalidOptionError(
      'job',
      'is not a job, and could not be cancelled: call cancelOnTeardown before operators of rxjs',
    );
  return new Observable((subscriber) => {
    let ended = false;
    const subscription = job.subscribe({
      next: (event) => {
        ended ||= event.type === 'settled';
        subscriber.next(event);
      },
      error: (error: unknown) => {
        ended = true;
        subscriber.error(error);
      },
      complete: () => {
        ended = true;
        subscriber.complete();
      },
    });
    return () => {
      subscription.unsubscribe();
      if (!ended) cancelJob(job);
    };
  });
}
