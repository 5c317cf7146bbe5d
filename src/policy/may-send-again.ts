import type { FailureCode } from '../contract/failure-code.js';

/**
 * The purpose of a request. `submit` (POST /run, /runsync), `retry` (POST /retry) and `route-post` buy work, and `purge` also
 * removes waiting jobs of others: none of these may happen twice unasked. The others are free to repeat.
 */
export type RequestPurpose =
  'submit' | 'retry' | 'route-post' | 'route-get' | 'poll' | 'stream' | 'cancel' | 'health' | 'purge';

/**
 * The kind of a reply's body. `job`: a job in a known state; `failed`: a body with the state FAILED; `value`: a readable answer
 * that is not a job; `error`: JSON with an `error`; `no-workers`: an `error` that reports no workers, as on a cold start;
 * `unreadable`: anything else.
 */
export type BodyKind = 'job' | 'failed' | 'value' | 'error' | 'no-workers' | 'unreadable';

/** The result of an exchange: no reply (a `TransportError` fits), or a reply (a `Reading` fits). */
export type Exchange =
  | { readonly phase: string; readonly sent: 'no' | 'maybe' }
  | { readonly status: number; readonly body: BodyKind; readonly retryAfterMs?: number | undefined };

export type AgainReason = 'not-sent' | 'rate-limited' | 'busy' | 'no-workers' | 'transient';

export type Verdict =
  /** The reply is what was asked for. A FAILED job that is polled is an answer too. */
  | { readonly verdict: 'answer' }
  /** Safe to send again; `usedUp` is the failure after the last try. */
  | { readonly verdict: 'again'; readonly why: AgainReason; readonly usedUp: FailureCode }
  /** It may have been accepted: never sent again. */
  | { readonly verdict: 'ambiguous' }
  | { readonly verdict: 'final'; readonly code: FailureCode };

/**
 * The one rule for sending again. A POST that buys work is sent again only when it provably never left (`sent` no) or
 * was provably refused: 429, or 503 with a readable Retry-After. Any other POST that may have been accepted is ambiguous.
 * Everything else is free to repeat. A FAILED body is an answer whatever the HTTP status. (spec 7)
 */
export function maySendAgain(purpose: RequestPurpose, exchange: Exchange): Verdict {
  if ('sent' in exchange) return afterFault(purpose, exchange.phase, exchange.sent);
  const { status, body } = exchange;
  if (body === 'failed' && (purpose === 'submit' || purpose === 'retry'))
    return final(status === 400 ? 'rejected' : 'job-failed');
  if (body === 'job' || body === 'failed' || (body === 'value' && isSuccess(status)))
    return { verdict: 'answer' };
  return refusal(purpose, exchange) ?? routeAnswer(purpose, status, body) ?? afterStatus(purpose, status);
}

function afterFault(purpose: RequestPurpose, phase: string, sent: 'no' | 'maybe'): Verdict {
  if (sent === 'no') return phase === 'tls' ? final('insecure') : again(purpose, 'not-sent');
  return happensOnce(purpose) ? { verdict: 'ambiguous' } : again(purpose, 'transient');
}

/** The verdicts that are the same for every purpose: a refused key, a rate limit, a redirect. */
function refusal(
  purpose: RequestPurpose,
  { status, body, retryAfterMs }: Extract<Exchange, { status: number }>,
): Verdict | undefined {
  if (status === 401 || status === 403) return final('unauthorized');
  // An unreadable 404 may be a proxy's page: it does not mean that the job is gone.
  if (status === 404 && purpose === 'poll' && body === 'unreadable') return undefined;
  if (status === 404) return final(notFound[purpose]);
  if (status === 429) return again(purpose, 'rate-limited');
  if (status === 503 && retryAfterMs !== undefined) return again(purpose, 'busy');
  if (redirects.has(status)) return final('insecure');
  return undefined;
}

/** On a route, an HTTP error with a JSON `error` is the function's answer, so it is not ambiguous. */
function routeAnswer(purpose: RequestPurpose, status: number, body: BodyKind): Verdict | undefined {
  if ((purpose !== 'route-get' && purpose !== 'route-post') || status < 400) return undefined;
  if (body === 'no-workers' && purpose === 'route-get') return again(purpose, 'no-workers');
  return body === 'error' || body === 'no-workers' ? final('route-failed') : undefined;
}

function afterStatus(purpose: RequestPurpose, status: number): Verdict {
  if (purpose === 'poll') return again(purpose, 'transient');
  if (status === 402) return final('refused');
  if (status === 410) return final(notFound[purpose]);
  if (refusedInput.has(status)) return final('rejected');
  if (happensOnce(purpose)) return { verdict: 'ambiguous' };
  return again(purpose, 'transient', isSuccess(status) ? 'malformed-reply' : 'transport');
}

const notFound = {
  submit: 'endpoint-not-found',
  retry: 'expired',
  'route-post': 'route-not-found',
  'route-get': 'route-not-found',
  poll: 'expired',
  stream: 'expired',
  cancel: 'expired',
  health: 'endpoint-not-found',
  purge: 'endpoint-not-found',
} as const satisfies Record<RequestPurpose, FailureCode>;

/** Redirects that come before any work is done. 303 is missing: it may come after the work. */
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** The request itself is wrong, so nothing was begun. This is not certain for 408, 409, 425 and similar ones. */
const refusedInput: ReadonlySet<number> = new Set([400, 405, 406, 411, 413, 414, 415, 417, 422, 431]);

const once: ReadonlySet<RequestPurpose> = new Set<RequestPurpose>(['submit', 'retry', 'route-post', 'purge']);

function happensOnce(purpose: RequestPurpose): boolean {
  return once.has(purpose);
}

/** Whether an HTTP status is 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function final(code: FailureCode): Verdict {
  return { verdict: 'final', code };
}

function again(purpose: RequestPurpose, why: AgainReason, usedUp: FailureCode = usedUpCodes[why]): Verdict {
  return { verdict: 'again', why, usedUp: purpose === 'poll' || purpose === 'stream' ? 'deadline' : usedUp };
}

const usedUpCodes = {
  'not-sent': 'unreachable',
  'rate-limited': 'refused',
  busy: 'refused',
  'no-workers': 'refused',
  transient: 'transport',
} as const satisfies Record<AgainReason, FailureCode>;

/** A 404 about a younger job may come from a replica that lags, or from a proxy during a deploy. */
const youngMs = 10 * 60_000;
const askAgainForMs = 60_000;
const asksOfOldJob = 2;

/** A job that has an id, and about which the service answers 404. */
export interface MissingJob {
  /** Age of the job at the first of these answers, in ms. */
  readonly ageMs: number;
  /** Since the first of these answers, in ms. */
  readonly forMs: number;
  /** Number of successive 404s, from 1. */
  readonly answers: number;
}

/** Whether a job is given up as `expired`: a young one after a minute of 404s, an older one after the second. */
export function isGone({ ageMs, forMs, answers }: MissingJob): boolean {
  return ageMs < youngMs ? forMs >= askAgainForMs : answers >= asksOfOldJob;
}
