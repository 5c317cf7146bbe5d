import { Observable } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import type { Shares } from './create-shares.js';
import { jobOperator, type JobOperator } from './job.js';

/**
 * Subscribes to the job when its lane has a slot, and gives the slot back when the job completes, errors or is
 * unsubscribed. Until then nothing is sent. A job stays a job. Several fan-outs behind one `Shares` have fair shares of its slots.
 *
 * @param lane whose share it is: an endpoint, a customer
 *
 * @example
 * ```ts
 * const shares = createShares({ slots: 8, weights: { edit: 3, upscale: 1 } });
 * merge(
 *   pullJobs(edits, (row) => edit.run(row).pipe(withinShare(shares, 'edit')), { concurrency: 8 }),
 *   pullJobs(photos, (row) => upscale.run(row).pipe(withinShare(shares, 'upscale')), { concurrency: 8 }),
 * );
 * ```
 */
export function withinShare<O>(shares: Shares, lane: string): JobOperator<O, O> {
  return jobOperator(
    <P>(source: Observable<JobEvent<P>>) =>
      new Observable<JobEvent<P>>((subscriber) => {
        const giveBack = shares.take(lane, () => {
          if (!subscriber.closed) source.subscribe(subscriber);
        });
        subscriber.add(giveBack);
      }),
  );
}
