import { defer, EMPTY, finalize, share, switchMap, tap, type Observable, type OperatorFunction } from 'rxjs';
import { checkFunction } from '../../contract/check-option.js';
import { InvalidOptionError } from '../../contract/millrace-error.js';
import type { JobEvent } from '../../contract/outcome.js';
import { cancelJob, factsOf } from '../job.js';

/**
 * A job a row, the latest wins: the older one is unsubscribed and cancelled at the service, also while its id is on the
 * way. A job that only waited for its turn sends nothing. The last job is cancelled as well when the stream is left before
 * its end, and when the source or `project` fails. `withinBudget` and the like may stand behind the job; a stream that is
 * no job is unsubscribed only. A job of `runSync` or of a route cannot be cancelled on its way, and is none that it takes: where the
 * type does not say so, as behind `pipe`, the stream errors with an `InvalidOptionError` before the job is subscribed.
 *
 * It is one run for all subscribers at a time: a second one joins. One that comes when all have left subscribes the source again,
 * and a source that begins anew has its rows bought again; of a source that has ended it joins the last job, and buys nothing.
 *
 * @example
 * ```ts
 * prompts$.pipe(debounceTime(300), switchJobs((prompt) => edit.run({ images, prompt })));
 * ```
 */
export function switchJobs<T, O>(
  project: (row: T) => Observable<JobEvent<O>> & { readonly cannotBeCancelled?: never },
): OperatorFunction<T, JobEvent<O>> {
  checkFunction('project', project);
  return (rows) => {
    let latest: Observable<JobEvent<O>> = EMPTY;
    let isUnderWay = false;
    let hasAll = false;
    const cancelLatest = () => {
      if (isUnderWay) cancelJob(latest);
      isUnderWay = false;
    };
    const switched = rows.pipe(
      tap({ complete: () => (hasAll = true) }),
      switchMap((row) => {
        const next = cancellable(project(row));
        if (next !== latest) cancelLatest();
        isUnderWay = true;
        return (latest = next);
      }),
    );
    return defer(() => (hasAll ? latest : switched)).pipe(
      tap((event) => {
        if (event.type === 'settled') isUnderWay = false;
      }),
      finalize(cancelLatest),
      share(),
    );
  };
}

/** @throws InvalidOptionError for a job that would be left and paid at each value of the source */
function cancellable<O>(events: Observable<JobEvent<O>>): Observable<JobEvent<O>> {
  if (factsOf(events)?.cannotBeCancelled !== true) return events;
  const problem =
    'gives a job of runSync or of a route, which cannot be cancelled on its way; give one of run, or take mergeJobs';
  throw new InvalidOptionError('project', problem);
}
