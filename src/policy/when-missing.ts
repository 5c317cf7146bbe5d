/** A 404 about a younger job may come from a replica that lags, or from a proxy during a deploy. */
const youngMs = 10 * 60_000;
const askAgainForMs = 60_000;
const asksOfOldJob = 2;

/** A job that the service gave an id to, and answers 404 about. */
export interface MissingJob {
  /** Age of the job at the first of these answers, in ms. */
  readonly ageMs: number;
  /** Since the first of these answers, in ms. */
  readonly forMs: number;
  /** So many 404s in a row, from 1. */
  readonly answers: number;
}

/** Whether a job is given up as `expired`: a young one after a minute of 404s, an older one after the second. */
export function isGone({ ageMs, forMs, answers }: MissingJob): boolean {
  return ageMs < youngMs ? forMs >= askAgainForMs : answers >= asksOfOldJob;
}
