import { backoff, defaultBackoff } from './backoff.js';
import type { BackoffLimits } from './backoff.js';
import type { AgainReason } from './may-send-again.js';

/** An endpoint that starts its first worker is asked again 5 to 10 s later. */
const coldStart: BackoffLimits = { initialMs: 10_000, factor: 1, maxMs: 10_000 };

/**
 * The wait in ms before a request is sent again: what the service asks for, else backoff. A Retry-After of 0 is no
 * leave to hammer, so backoff applies.
 * @param failures tries that have failed, from 1
 */
export function retryDelayMs(
  again: { why: AgainReason; retryAfterMs?: number | undefined },
  failures: number,
  random: () => number,
  limits: BackoffLimits = defaultBackoff,
): number {
  if (again.retryAfterMs !== undefined && again.retryAfterMs > 0) return again.retryAfterMs;
  return backoff(failures, random, again.why === 'no-workers' ? coldStart : limits);
}
