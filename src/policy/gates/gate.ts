import type { Observable } from 'rxjs';
import type { WaitReason } from '../../contract/outcome.js';
import type { Clock } from '../client-clock.js';

/** What a request is for. Polls of accepted jobs go before new submissions. */
export type RequestKind = 'submit' | 'poll' | 'cancel' | 'other';

/** A request at a gate. */
export interface GateRequest {
  readonly kind: RequestKind;
  /** The job or call that it belongs to. A key need not be unique. */
  readonly key: string;
  /** Id of the queue endpoint. The empty string on a load-balanced route: its `host` names the endpoint. */
  readonly endpointId: string;
  /** Host and port that the request goes to, as in `api.example.com` or `127.0.0.1:8100`. */
  readonly host: string;
}

/** The result of a request that has passed a gate. */
export interface GateAnswer extends GateRequest {
  /** HTTP status; 200 for a function's own failure; 0 if there was no reply, or none that decides a POST. */
  readonly status: number;
  /** The wait that the service asks for, in ms, at most 10 minutes. Absent if there is no readable Retry-After. */
  readonly retryAfterMs?: number;
}

/**
 * Admits the requests of a client: it limits the rate, and pauses after refusals and in a storm of failures. The built-in gates
 * keep pauses and measured rates for each endpoint (`host` and `endpointId`), so that one endpoint's trouble delays no other.
 */
export interface Gate {
  /** Requests a second that it admits to all endpoints together, given or measured; absent or `undefined` if there is no limit now. */
  readonly ratePerSecond?: number | undefined;
  /**
   * Completes when the request may be sent; before that it emits each wait that is worth showing to a person.
   * Unsubscribing leaves the queue.
   */
  admit(request: GateRequest): Observable<{ why: WaitReason; forMs: number }>;
  /**
   * Returns true if the request need not wait and has passed, as with an `admit` that completes at once; false: call `admit`.
   * Optional: it saves a stream for each request. A gate that wraps another one with its own `admit` must not pass on the other
   * one's `tryPass`.
   */
  tryPass?(request: GateRequest): boolean;
  /** Called with every answer. */
  observe(answer: GateAnswer): void;
  /** Called by each client that uses the gate. Optional: the built-in ones take the first clock unless they were given one. */
  useClock?(clock: Clock): void;
}

/** Whether an answer is a temporary refusal: 429, or 503 with a Retry-After. The service did nothing. */
export function isRefusal({ status, retryAfterMs }: Pick<GateAnswer, 'status' | 'retryAfterMs'>): boolean {
  return status === 429 || (status === 503 && retryAfterMs !== undefined);
}
