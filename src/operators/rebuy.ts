import { concatMap, defer, of, type Observable } from 'rxjs';
import type { FailureCode } from '../contract/failure-code.js';
import type { JobEvent, Outcome } from '../contract/outcome.js';
import type { Job } from './job.js';

/** Options of `rebuy`. */
export interface RebuyOptions {
  /** Further purchases after the first, from 0. */
  maxRetries: number;
  /** Which failures are worth another purchase; those that may be paid never are. */
  codes: readonly FailureCode[];
}

/**
 * Buys again on purpose: a new job after one that failed with paid `no` and a listed code. Only the last job's `settled`
 * is emitted. Cold: every subscription begins with a purchase of its own; share it to buy once.
 *
 * @example
 * ```ts
 * rebuy(() => endpoint.run(row), { maxRetries: 2, codes: ['job-failed', 'job-timed-out'] }).pipe(toOutcome());
 * ```
 */
export function rebuy<O>(make: () => Job<O>, { maxRetries, codes }: RebuyOptions): Observable<JobEvent<O>> {
  const buy = (retriesLeft: number): Observable<JobEvent<O>> =>
    defer(make).pipe(
      concatMap((event) => {
        const again = event.type === 'settled' && retriesLeft > 0 && isWorthAnother(event.outcome, codes);
        return again ? buy(retriesLeft - 1) : of(event);
      }),
    );
  return buy(maxRetries);
}

function isWorthAnother(outcome: Outcome<unknown>, codes: readonly FailureCode[]): boolean {
  return outcome.status === 'failed' && outcome.paid === 'no' && codes.includes(outcome.code);
}
