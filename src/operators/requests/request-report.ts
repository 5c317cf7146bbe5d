import type { RequestPurpose } from '../../policy/may-send-again.js';
import type { FaultPhase } from '../../transport/transport-error.js';

/** One request and what came back: for logs, meters and spans. It holds no header, no body, no query and no key. */
export interface RequestReport {
  /** When it was sent, in ms since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** The empty string on a load-balanced route. */
  readonly endpointId: string;
  readonly host: string;
  /** The job or call that it belongs to. */
  readonly key: string;
  readonly purpose: RequestPurpose;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Which POST of its job it follows or is, from 1. Absent for calls that are not jobs. */
  readonly attempt?: number;
  /** 0: there was no reply. */
  readonly status: number;
  /** The `x-request-id` of the reply. */
  readonly requestId?: string;
  /** Where there was no reply: the phase that failed, and whether the request may have arrived. */
  readonly fault?: { readonly phase: FaultPhase; readonly sent: 'no' | 'maybe' };
}

/** Whose request it is, for a `traceparent`. */
export type TracedCall = Pick<RequestReport, 'endpointId' | 'host' | 'key' | 'purpose'>;

/** What a client does with the requests of all its endpoints. */
export interface RequestProbe {
  /** Where reports go, if somebody wants them. */
  readonly requests: { readonly isObserved: boolean; publish(report: RequestReport): void };
  /** The header `traceparent` of a request. */
  readonly traceparent?: ((call: TracedCall) => string | undefined) | undefined;
}

/** What is known of the requests of one job, beside its events. */
export interface JobTrace {
  readonly endpointId: string;
  readonly key: string;
  /** POSTs so far. */
  attempt: number;
  /** Of the last reply. */
  httpStatus?: number | undefined;
  requestId?: string | undefined;
  /** Masked in its replies beside those of the client: the addresses that the service calls back. */
  secrets?: readonly string[];
}
