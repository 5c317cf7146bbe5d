import { clampTimer } from './client-clock.js';
import type { AgainReason } from './may-send-again.js';

/** Growth of the wait between tries. Durations in ms. */
export interface BackoffLimits {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

export const defaultBackoff: BackoffLimits = { initialMs: 500, factor: 2, maxMs: 30_000 };

/** An endpoint without a running worker is asked again 5 to 10 s later. */
const coldStart: BackoffLimits = { initialMs: 10_000, factor: 1, maxMs: 10_000 };

/**
 * The wait in ms before a request is sent again: the time that the service asks for, or else backoff. Backoff also applies to a
 * Retry-After of 0, so that retries are never immediate.
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

/**
 * The wait in ms before another try: exponential, with equal jitter (half of it is fixed, half is random), so that rows
 * that failed together are not sent again together.
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

/** A longer Retry-After is cut to 10 minutes. */
const maxRetryAfterMs = 600_000;

/** The three date forms of RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`, with dashes and a short year, and without a zone. */
const httpDate =
  /^[A-Za-z]{3,9},? (\d{2}[ -][A-Za-z]{3}[ -]\d{2,4}|[A-Za-z]{3} [ \d]\d) \d{2}:\d{2}:\d{2}( GMT| \d{4})$/;

/**
 * The wait in ms that a Retry-After header asks for, in seconds or by a date; `undefined` if it is missing or invalid. A date
 * counts from the reply's own date, because this machine's clock may differ. A date in the past gives 0; a long wait is cut to
 * 10 minutes.
 * @param nowMs the time of the reply in ms since the epoch, used for a reply without a date
 */
export function retryAfterMs(
  { 'retry-after': header, date }: Readonly<Record<string, string | undefined>>,
  nowMs: number,
): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : untilDate(text, timeOf(date) ?? nowMs);
  return waitMs === undefined ? undefined : Math.min(Math.max(waitMs, 0), maxRetryAfterMs);
}

function untilDate(text: string, nowMs: number): number | undefined {
  const at = timeOf(text);
  return at === undefined ? undefined : at - nowMs;
}

function timeOf(text = ''): number | undefined {
  if (!httpDate.test(text)) return undefined;
  // eslint-disable-next-line no-restricted-globals -- reads a date that is given, not the clock
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at;
}
