import type { Secret } from '../../contract/redact.js';
import type { RequestPurpose } from '../../policy/may-send-again.js';
import type { FaultPhase } from '../../transport/transport-error.js';

/** One request and its result, for logs, meters and spans. It contains no header, no body, no query and no key. */
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
  /** The number of the job's POST, from 1; for other requests, of the POST before them. Absent for calls that are not jobs. */
  readonly attempt?: number;
  /** The HTTP status; 0 if there was no reply. */
  readonly status: number;
  /** The `x-request-id` of the reply. */
  readonly requestId?: string;
  /** Set if there was no reply: the phase that failed, and whether the request may have arrived. */
  readonly fault?: { readonly phase: FaultPhase; readonly sent: 'no' | 'maybe' };
}

/** The call that a request belongs to, for a `traceparent`. */
export type TracedCall = Pick<RequestReport, 'endpointId' | 'host' | 'key' | 'purpose'>;

/** The instrumentation of all requests of a client. */
export interface RequestProbe {
  /** Receives the reports, if anybody listens. */
  readonly requests: { readonly isObserved: boolean; publish(report: RequestReport): void };
  /** The header `traceparent` of a request. */
  readonly traceparent?: ((call: TracedCall) => string | undefined) | undefined;
}

/** Facts about the requests of one job, besides its events. */
export interface JobTrace {
  readonly endpointId: string;
  readonly key: string;
  /** POSTs so far. */
  attempt: number;
  /** The HTTP status of the last reply. */
  httpStatus?: number | undefined;
  requestId?: string | undefined;
  /** What is masked in its replies, besides the secrets of the client: those of the call, and its callback addresses. */
  secrets?: readonly Secret[];
}
