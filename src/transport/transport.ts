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

/** A named limit for each phase; `requestMs` bounds the whole. */
export interface PhaseTimeouts {
  readonly lookupMs: number;
  readonly connectMs: number;
  readonly secureConnectMs: number;
  readonly sendMs: number;
  readonly responseMs: number;
  readonly readMs: number;
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
