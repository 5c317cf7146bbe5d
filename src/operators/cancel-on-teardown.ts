import { Observable } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import { cancelJob, type Job } from './job.js';

/**
 * The events of a job, which is cancelled at the service when this subscription is given up before its end, also while
 * its id is on the way. Other subscribers of the job see it end as `job-cancelled`. For single subscriptions to a job
 * whose endpoint detaches; an endpoint with `onUnsubscribe: 'cancel'` cancels when the last subscriber is gone.
 */
export function cancelOnTeardown<O>(job: Job<O>): Observable<JobEvent<O>> {
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
