import { concatMap, of, type Observable, type OperatorFunction } from 'rxjs';
import type { Completed, JobEvent } from '../contract/outcome.js';

/**
 * Goes on with another job when the first has completed: a pipeline of endpoints. All events of the first but its
 * `settled` come through, then those of the second; a first job that fails is the failure of the whole, as a value, and
 * nothing more is bought. Whoever subscribes how often, `project` is called once for each outcome of the first job, so the
 * second is bought once as well. The cost in the outcome is that of the second job alone.
 *
 * @example
 * ```ts
 * describe.run({ url }).pipe(thenJob(({ text }) => edit.run({ images: [url], prompt: text })), toOutcome());
 * ```
 */
export function thenJob<A, B>(
  project: (output: A, outcome: Completed<A>) => Observable<JobEvent<B>>,
): OperatorFunction<JobEvent<A>, JobEvent<B>> {
  return (job) => {
    const made = new WeakMap<Completed<A>, Observable<JobEvent<B>>>();
    const next = (outcome: Completed<A>) => {
      const second = made.get(outcome) ?? project(outcome.output, outcome);
      made.set(outcome, second);
      return second;
    };
    return job.pipe(
      concatMap((event): Observable<JobEvent<B>> => {
        if (event.type !== 'settled') return of(event);
        const { outcome } = event;
        return outcome.status === 'failed' ? of({ type: 'settled', outcome }) : next(outcome);
      }),
    );
  };
}
