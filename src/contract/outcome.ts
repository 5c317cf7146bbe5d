import type { ObservableInput } from 'rxjs';
import type { FailureCode, Paid } from './failure-code.js';

/** How a job ended: completed, or failed with a code. A failure is a value, never a stream error. (spec 2.1, 2.6, 7.2) */
export type Outcome<O> = Completed<O> | Failed;

/** The job completed. Times in ms, money in USD. */
export interface Completed<O> {
  status: 'completed';
  /** Opaque id. A load-balanced route has no job: there it is the empty string. */
  jobId: string;
  /** What the function returned; checked where the endpoint has a schema. */
  output: O;
  /** Reported price in USD; `null` where the service reports none. */
  costUsd: number | null;
  /** How long it waited for a worker, where the service tells. (spec 2.6) */
  delayTimeMs?: number;
  /** How long a worker was at it, where the service tells. (spec 2.6) */
  executionTimeMs?: number;
}

/** The job did not complete, or nobody can tell. `code` says why, `paid` what it cost. Times in ms. */
export interface Failed {
  status: 'failed';
  code: FailureCode;
  /** Whether it was charged; `maybe`: nobody can tell, and it is never sent again unasked. */
  paid: Paid;
  /** Known once the service had accepted the job: `attach` asks for it again. */
  jobId?: string;
  /** One sentence: what failed, and which (method, path, job id). */
  message: string;
  /** Additional context from the service, redacted. (spec 7.2) */
  detail?: string;
  /** Where the service answered with one. */
  httpStatus?: number;
  /** Where the service refused the last try and asked to wait, at most 10 minutes: send nothing again before. */
  retryAfterMs?: number;
  /** What came with the failure: of `output-mismatch`, what is not of the schema. */
  output?: unknown;
  delayTimeMs?: number;
  executionTimeMs?: number;
}

/**
 * What a subscriber of a job sees: `settled` last, then completion.
 *
 * - `submitting`: the POST leaves; `sync` to /runsync, whose reply may be the end.
 * - `accepted`: from here on the job is known by its id, which is what to store.
 * - `status`: what a poll was told, `partial` being what the function has shown of its output so far.
 * - `waiting`: nothing is sent for `forMs`; a wait after `submitting` says that the POST was refused, and bought nothing.
 */
export type JobEvent<O> =
  | { type: 'submitting'; sync: boolean }
  | { type: 'accepted'; jobId: string }
  | { type: 'status'; status: string; delayTimeMs?: number; partial?: unknown }
  | { type: 'waiting'; why: WaitReason; forMs: number }
  | { type: 'settled'; outcome: Outcome<O> };

/**
 * Why a request waits: the service asked for it (429), a try before failed, the service says that it does not know the job
 * (404) and is asked again before that is believed, or the gate has no room yet.
 */
export type WaitReason = 'rate-limited' | 'backoff' | 'not-found' | 'gate';

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
