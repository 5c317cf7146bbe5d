import { defer, finalize, switchMap, tap, type Observable, type OperatorFunction } from 'rxjs';
import type { JobEvent } from '../../contract/outcome.js';
import { cancelJob } from '../job.js';

/**
 * A job a row, the latest wins: the older one is unsubscribed and cancelled at the service, also while its id is on the
 * way. A job that only waited for its turn sends nothing. The last job is cancelled as well when the stream is left before
 * its end, and when the source or `project` fails. `withinBudget` and the like may stand behind the job; a stream that is
 * no job is unsubscribed only.
 *
 * @example
 * ```ts
 * prompts$.pipe(debounceTime(300), switchJobs((prompt) => edit.run({ images, prompt })));
 * ```
 */
export function switchJobs<T, O>(
  project: (row: T) => Observable<JobEvent<O>>,
): OperatorFunction<T, JobEvent<O>> {
  return (rows) =>
    defer(() => {
      let latest: Observable<JobEvent<O>> | undefined;
      return rows.pipe(
        switchMap((row) => {
          const next = project(row);
          if (next !== latest) cancelJob(latest);
          latest = next;
          return next;
        }),
        tap((event) => {
          if (event.type === 'settled') latest = undefined;
        }),
        finalize(() => cancelJob(latest)),
      );
    });
}
