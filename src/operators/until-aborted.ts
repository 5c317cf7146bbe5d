import type { MonoTypeOperatorFunction } from 'rxjs';
import { createUntilAborted } from './waiting/until-aborted.js';

/**
 * Passes everything through until the signal aborts, then errors with its reason and unsubscribes the source. For streams
 * of many jobs; a single call takes the signal itself (`CallOptions.signal`).
 *
 * @example
 * ```ts
 * pullJobs(rows, (row) => endpoint.run(row), { concurrency: 8 }).pipe(untilAborted(AbortSignal.timeout(60_000)));
 * ```
 */
export function untilAborted<T>(signal: AbortSignal): MonoTypeOperatorFunction<T> {
  return createUntilAborted()(signal);
}
