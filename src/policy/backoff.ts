import { clampTimer } from './clamp-timer.js';

/** Growth of the wait between tries. Durations in ms. */
export interface BackoffLimits {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

export const defaultBackoff: BackoffLimits = { initialMs: 500, factor: 2, maxMs: 30_000 };

/**
 * The wait before another try: exponential, with equal jitter (half of it is certain, half is chance), so that rows
 * that failed together do not come back together.
 * @param failures tries that have failed before this wait, from 1
 * @param random from 0 to 1, as `Math.random`
 */
export function backoff(
  failures: number,
  random: () => number,
  limits: BackoffLimits = defaultBackoff,
): number {
  const steps = Math.max(failures - 1, 0);
  const full = clampTimer(Math.min(limits.initialMs * limits.factor ** steps, limits.maxMs));
  return full / 2 + (full / 2) * Math.min(Math.max(random(), 0), 1);
}
