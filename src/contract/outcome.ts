import type { ObservableInput } from 'rxjs';
import type { FailureCode, Paid } from './failure-code.js';

/** How a job ended: completed, or failed with a code. A failure is a value, never a stream error. (spec 2.1, 2.6, 7.2) */
export type Outcome<O, C extends FailureCode = FailureCode> = Completed<O> | Failed<C>;

/** The job completed. Times in ms, money in USD. */
export interface Completed<O> {
  status: 'completed';
  /** Opaque id. A load-balanced route has no job: there it is the empty string. */
  jobId: string;
  /** What the function returned; checked where the endpoint has a schema. */
  output: O;
  /** Reported price in USD; `null` where the service reports none. */
  costUsd: number | null;
  /** How long it waited for a worker, where the service reports it. (spec 2.6) */
  delayTimeMs?: number;
  /** How long a worker ran it, where the service reports it. (spec 2.6) */
  executionTimeMs?: number;
}

/** The job did not complete, or that is not known. `code` is the reason, `paid` whether it cost money. Times in ms. */
export interface Failed<C extends FailureCode = FailureCode> {
  status: 'failed';
  code: C;
  /** Whether it was charged; `maybe`: that is not known, and it is never sent again unasked. */
  paid: Paid;
  /** Known once the service has accepted the job: `attach` polls it again. */
  jobId?: string;
  /** One sentence: what failed, and which (method, path, job id). */
  message: string;
  /** Additional context from the service, redacted. (spec 7.2) */
  detail?: string;
  /** The HTTP status, where the service answered. */
  httpStatus?: number;
  /** Where the service refused the last try and asked for a wait, at most 10 minutes: do not send it again before that. */
  retryAfterMs?: number;
  /** The output that came with the failure; with `output-mismatch` it does not fit the schema. */
  output?: unknown;
  delayTimeMs?: number;
  executionTimeMs?: number;
}

/**
 * What a subscriber of a job sees: `settled` last, then completion.
 *
 * - `submitting`: the POST leaves; `sync` to /runsync, whose reply may be the end.
 * - `accepted`: from here on the job is known by its id, which is what to store.
 * - `status`: the reply to a poll; `partial` is the part of the output that the function has sent so far.
 * - `waiting`: nothing is sent for `forMs`; a wait after `submitting` means that the POST was
 *   refused, and bought nothing, unless it is one for a `callback`.
 *
 * A job of a client puts on each when it was, and what is known of its requests by then. What an operator adds (`over-budget`,
 * for one) has nothing of this.
 */
export type JobEvent<O> = (
  | { type: 'submitting'; sync: boolean }
  | { type: 'accepted'; jobId: string }
  | { type: 'status'; status: string; delayTimeMs?: number; partial?: unknown }
  | { type: 'waiting'; why: WaitReason; forMs: number }
  | { type: 'settled'; outcome: Outcome<O> }
) & {
  /** In ms since the epoch, by the client's scheduler. */
  at?: number;
  /** POSTs of the job so far; of a route's GET, requests. 0 before the first, and of an attached job. */
  attempt?: number;
  /** The HTTP status of its last reply; absent before the first, and after a request without one. */
  httpStatus?: number;
  /** The `x-request-id` of that reply. */
  requestId?: string;
};

/**
 * Why a request waits: the service asked for it (429), the try before failed, the service answered that it does not know
 * the job (404) and is asked again before that is believed, or the gate does not admit it yet. `callback`: the POST had no answer,
 * and the service may still call back about its job.
 */
export type WaitReason = 'rate-limited' | 'backoff' | 'not-found' | 'gate' | 'callback';

/**
 * The steps of a purchase that must not be forgotten. A job awaits the checkpoint before it goes on: `intent` completes
 * before the POST leaves (once for each POST), `accepted` before the first poll, `settled` before the last event.
 * `refused` follows an `intent` whose POST was provably not accepted: its reservation is free again.
 */
export type CheckpointEvent<O> =
  | { type: 'intent'; sync: boolean; attempt: number }
  | { type: 'refused'; why: string; httpStatus?: number }
  | { type: 'accepted'; jobId: string }
  | { type: 'settled'; outcome: Outcome<O> };

/** Completes when the event is durable. An error keeps the POST from leaving and errors the job. */
export type Checkpoint<O> = (event: CheckpointEvent<O>) => ObservableInput<unknown>;
