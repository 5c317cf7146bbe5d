import { defer, switchMap, type OperatorFunction } from 'rxjs';
import type { JobEvent } from '../contract/outcome.js';
import type { Job } from './job.js';

/**
 * A job a row, the latest wins: the older one is unsubscribed and cancelled at the service, also while its id is on the
 * way. A job that only waited for its turn sends nothing. Unsubscribing leaves the latest to its own `onUnsubscribe`.
 *
 * @example
 * ```ts
 * prompts$.pipe(debounceTime(300), switchJobs((prompt) => edit.run({ images, prompt })));
 * ```
 */
export function switchJobs<T, O>(project: (row: T) => Job<O>): OperatorFunction<T, JobEvent<O>> {
  return (rows) =>
    defer(() => {
      let latest: Job<O> | undefined;
      return rows.pipe(
        switchMap((row) => {
          const next = project(row);
          if (next !== latest) latest?.cancel();
          latest = next;
          return next;
        }),
      );
    });
}
