import type { Observable } from 'rxjs';
import { version } from '../contract/version.js';

/** A request as it goes on the wire. Durations in milliseconds, sizes in bytes. */
export interface WireRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeouts: PhaseTimeouts;
  /** A longer reply is cut off and errors. @defaultValue 64 MiB */
  readonly maxReplyBytes?: number;
  /** A POST that buys work: never sent over a socket that has been idle for over 3 s. */
  readonly paid: boolean;
}

/** A time limit in ms for each phase of a request, in their order; `requestMs` limits the whole. */
export interface PhaseTimeouts {
  /** Looking up the host's name. @defaultValue 10_000 */
  readonly lookupMs: number;
  /** @defaultValue 10_000 */
  readonly connectMs: number;
  /** Setting up TLS. @defaultValue 10_000 */
  readonly secureConnectMs: number;
  /** Sending the request: only a large one takes time. @defaultValue 300_000 */
  readonly sendMs: number;
  /** From the sent request to the head of the reply: the time that /runsync takes. (spec 8) */
  readonly responseMs: number;
  /** From the head to the end of the reply: only a large one, as with a picture as base64, takes time. @defaultValue 300_000 */
  readonly readMs: number;
  /** @defaultValue the sum of all phases */
  readonly requestMs: number;
}

/** A reply with any status, as it came from the wire. */
export interface WireReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * One exchange. Cold: subscribing sends, one reply is emitted, then completion; unsubscribing aborts.
 * Errors only with `TransportError`; any HTTP status is a reply, not an error.
 */
export interface Transport {
  (request: WireRequest): Observable<WireReply>;
  /** Closes its connections. Optional. A client closes only a transport that it created itself. */
  close?(): void;
}

export const defaultMaxReplyBytes = 64 * 1024 * 1024;

const defaults = {
  lookupMs: 10_000,
  connectMs: 10_000,
  secureConnectMs: 10_000,
  sendMs: 300_000,
  readMs: 300_000,
} as const;

/**
 * The limits of one exchange. The service may take `responseMs` until its reply begins: for /runsync that is
 * `executionTimeoutMs` (spec 8). Every other phase has a separate limit, which also ends a reply that arrives byte by byte.
 */
export function phaseTimeouts(responseMs: number, overrides: Partial<PhaseTimeouts> = {}): PhaseTimeouts {
  const phases = { ...defaults, responseMs, ...overrides };
  const { lookupMs, connectMs, secureConnectMs, sendMs, readMs } = phases;
  return {
    requestMs: lookupMs + connectMs + secureConnectMs + sendMs + phases.responseMs + readMs,
    ...phases,
  };
}

const userAgent = `millrace/${version}`;

/**
 * The headers of a request: always the key, and the content type if there is a body. (spec 4.3, 5)
 * @param apiKey absent if none is configured: the service then answers 401
 */
export function wireHeaders(apiKey: string | undefined, hasBody: boolean): Record<string, string> {
  return {
    Accept: 'application/json',
    'User-Agent': userAgent,
    ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
    ...(hasBody && { 'Content-Type': 'application/json' }),
  };
}
