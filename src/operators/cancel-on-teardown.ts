import { Observable } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import { cancelJob, type Job } from './job.js';

/**
 * The events of a job. The job is cancelled at the service when this subscription ends before the job does, even while
 * its id is on the way. Other subscribers of the job see it end as `job-cancelled`. Use it for single subscriptions to a
 * job whose endpoint detaches; an endpoint with `onUnsubscribe: 'cancel'` cancels when the last subscriber has left.
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
