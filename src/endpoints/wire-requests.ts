import { InvalidOptionError } from '../contract/millrace-error.js';
import { checkHttpUrl } from '../contract/request-parts.js';
import { InvalidInputError } from '../operators/job-error.js';
import { phaseTimeouts, type PhaseTimeouts, wireHeaders, type WireRequest } from '../transport/transport.js';

/** Every call of a queue endpoint as it is sent; ids are encoded. (spec 4.1) */
export interface QueueRequests {
  readonly run: (body: string) => WireRequest;
  /** @param responseMs how long the reply may take to begin */
  runSync(body: string, responseMs: number, waitMs?: number): WireRequest;
  /** @param waitMs asks /status-sync, which holds the request for at most this time */
  status(jobId: string, waitMs?: number): WireRequest;
  stream(jobId: string): WireRequest;
  cancel(jobId: string): WireRequest;
  /** A purchase, like /run. */
  retry(jobId: string): WireRequest;
  health(): WireRequest;
  purgeQueue(): WireRequest;
}

/** The time limit of calls that are answered at once: all but /runsync and /status-sync. */
const promptMs = 60_000;
/** How much longer than `waitMs` a held reply may take. */
const graceMs = 10_000;

/** @param root address of the endpoint, without a trailing slash */
export function queueRequests(apiKey: string | undefined, root: string): QueueRequests {
  const wire = createWireRequests(apiKey);
  const request = (
    method: 'GET' | 'POST',
    path: string,
    { body, paid = false, responseMs = promptMs }: Partial<Call> = {},
  ) => wire({ method, url: `${root}/${path}`, body, paid, responseMs });
  return {
    run: (body) => request('POST', 'run', { body, paid: true }),
    runSync: (body, responseMs, waitMs) =>
      request('POST', `runsync${waiting(waitMs)}`, {
        body,
        paid: true,
        responseMs: Math.max(responseMs, (waitMs ?? -graceMs) + graceMs),
      }),
    status: (jobId, waitMs) =>
      waitMs === undefined
        ? request('GET', `status/${encodeURIComponent(jobId)}`)
        : request('GET', `status-sync/${encodeURIComponent(jobId)}${waiting(waitMs)}`, {
            responseMs: Math.max(promptMs, waitMs + graceMs),
          }),
    stream: (jobId) => request('GET', `stream/${encodeURIComponent(jobId)}`),
    cancel: (jobId) => request('POST', `cancel/${encodeURIComponent(jobId)}`),
    retry: (jobId) => request('POST', `retry/${encodeURIComponent(jobId)}`, { paid: true }),
    health: () => request('GET', 'health'),
    purgeQueue: () => request('POST', 'purge-queue'),
  };
}

function waiting(waitMs: number | undefined): string {
  return waitMs === undefined ? '' : `?wait=${waitMs}`;
}

/** The parts in which calls differ. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** JSON text. */
  readonly body?: string | undefined;
  /** How long the service may take until its reply begins, in ms. */
  readonly responseMs: number;
  /** Whether it buys work. */
  readonly paid: boolean;
}

/** At most this many limits are kept, because `waitMs` may differ from call to call. */
const maxLimits = 64;

/** Builds the requests of one endpoint; their common part is built once. */
export function createWireRequests(apiKey: string | undefined): (call: Call) => WireRequest {
  const headers = Object.freeze(wireHeaders(apiKey, false));
  const headersWithBody = Object.freeze(wireHeaders(apiKey, true));
  const limits = new Map<number, PhaseTimeouts>();
  const limitsOf = (responseMs: number): PhaseTimeouts => {
    const known = limits.get(responseMs);
    if (known) return known;
    if (limits.size === maxLimits) limits.clear();
    const made = Object.freeze(phaseTimeouts(responseMs));
    limits.set(responseMs, made);
    return made;
  };
  return ({ method, url, body, responseMs, paid }) => {
    const timeouts = limitsOf(responseMs);
    return body === undefined
      ? { method, url, headers, timeouts, paid }
      : { method, url, headers: headersWithBody, body, timeouts, paid };
  };
}

/**
 * The input as JSON text. @throws InvalidInputError if JSON cannot express it: a cycle, a BigInt, `undefined`, `NaN`, a function,
 * bytes, or a `Map`, a `Blob`, a promise
 */
export function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value, refuseLost) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    throw new InvalidInputError(`cannot be written as JSON: ${String(error)}`, { cause: error });
  }
  throw new InvalidInputError('cannot be written as JSON: there is no value');
}

/**
 * Throws for values that JSON.stringify replaces or drops: a job about `null` in place of a number, about `{}` in place of a picture
 * that was not awaited, or without the text that a function returns, would be paid. `undefined` is dropped from objects only.
 */
function refuseLost(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const lost = lostOf(value, { given: this[name], isInArray: Array.isArray(this) });
  if (lost === undefined) return value;
  throw new TypeError(`${name === '' ? 'it' : JSON.stringify(name)} is ${lost}`);
}

/**
 * What the value is, if JSON would lose it; otherwise `undefined`.
 *
 * @param given the value before its `toJSON`, which writes bytes (`Buffer`) as an object, and an invalid date as `null`
 */
function lostOf(value: unknown, { given, isInArray }: { given: unknown; isInArray: boolean }) {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'function':
      return kindOf(value);
    case 'undefined':
    case 'symbol':
      return isInArray ? String(value) : undefined;
    case 'object':
      if (value === null) return kindOf(given) === 'Date' ? 'an invalid Date' : undefined;
      if (ArrayBuffer.isView(given)) return kindOf(given);
      return kept.has(kindOf(value)) || Object.keys(value).length > 0 ? undefined : kindOf(value);
    default:
      return undefined;
  }
}

const kept: ReadonlySet<string> = new Set(['Object', 'Array', 'Number', 'String', 'Boolean']);

/** Such as `Map` or `Promise`; `Object` also for instances of other classes. */
function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/**
 * The base URL without trailing slashes.
 * @param option the option's name, for messages
 * @throws InvalidOptionError unless it is a plain http or https URL without a trailing `/v2`, which the paths have already
 */
export function checkBaseUrl(baseUrl: string, option: string): string {
  const problem = checkHttpUrl(baseUrl) ?? problemOf(new URL(baseUrl));
  if (problem !== undefined) throw new InvalidOptionError(option, problem);
  return baseUrl.replace(/\/+$/, '');
}

function problemOf({ username, password, search, hash, pathname }: URL): string | undefined {
  if (username !== '' || password !== '') return 'carries a user name or password';
  if (search !== '' || hash !== '') return 'carries a query or a fragment';
  if (/\/v2\/*$/.test(pathname)) return 'ends in /v2: leave it out, the paths carry it';
  return undefined;
}
