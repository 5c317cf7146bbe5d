import type { Observable } from 'rxjs';

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

/** A named limit in ms for each phase, in their order; `requestMs` bounds the whole. */
export interface PhaseTimeouts {
  /** Looking up the host's name. @defaultValue 10_000 */
  readonly lookupMs: number;
  /** @defaultValue 10_000 */
  readonly connectMs: number;
  /** Setting up TLS. @defaultValue 10_000 */
  readonly secureConnectMs: number;
  /** @defaultValue 60_000 */
  readonly sendMs: number;
  /** From the sent request to the head of the reply: the time that /runsync takes. (spec 8) */
  readonly responseMs: number;
  /** From the head to the end of the reply. @defaultValue 60_000 */
  readonly readMs: number;
  /** @defaultValue the sum of all phases */
  readonly requestMs: number;
}

/** A reply as it came from the wire, whatever its status. */
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
export type Transport = (request: WireRequest) => Observable<WireReply>;
