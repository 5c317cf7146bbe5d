import { defer, EMPTY, finalize, share, switchMap, tap, type Observable, type OperatorFunction } from 'rxjs';
import { checkFunction } from '../../contract/check-option.js';
import { InvalidOptionError } from '../../contract/millrace-error.js';
import type { JobEvent } from '../../contract/outcome.js';
import { cancelJob, checkJob, factsOf } from '../job.js';
import { isNoEvent, notOfEvents } from '../to-outcome.js';

/**
 * Runs a job for the latest row: the older job is unsubscribed and cancelled at the service, even if its id has not arrived
 * yet. A job that has not been sent is not sent. The last job is also cancelled if the stream is left before its end, or the
 * source or `project` fails. The job may be piped through `withinBudget` and similar operators; a stream that is not a job is
 * only unsubscribed. A job of `runSync` or of a route cannot be cancelled and is refused: if the type does not show it, as
 * after `pipe`, the stream errors with an `InvalidOptionError` before the job is subscribed.
 *
 * Subscribers at the same time share one run. A subscriber after all have left subscribes to the source again; if that begins
 * anew, its rows are bought again. If the source has ended, the subscriber joins the last job, which is cancelled if it was left
 * before its end, and buys nothing.
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
        if (isNoEvent(event)) throw notOfEvents();
        if (event.type === 'settled') isUnderWay = false;
      }),
      finalize(cancelLatest),
      share(),
    );
  };
}

/** @throws InvalidOptionError for a job that cannot be cancelled: each value of the source would leave a paid job behind */
function cancellable<O>(events: Observable<JobEvent<O>>): Observable<JobEvent<O>> {
  checkJob('project', events);
  if (factsOf(events)?.cannotBeCancelled !== true) return events;
  const problem =
    'gives a job of runSync or of a route, which cannot be cancelled while its POST is on the wire; give one of run, or use mergeJobs';
  throw new InvalidOptionError('project', problem);
}
