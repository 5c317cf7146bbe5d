import type { ObservableInput } from 'rxjs';
import type { FailureCode, Paid } from './failure-code.js';

// The states stand here and not with the schemas of the replies: a bundle of operators would contain zod.

/** The states of spec section 3, then others that live services send. Any other state is kept and is not terminal. */
export const jobStates = [
  'IN_QUEUE',
  'IN_PROGRESS',
  'COMPLETED',
  'FAILED',
  'RUNNING',
  'CANCELLED',
  'TIMED_OUT',
] as const;

/** A known state of a job. (spec 3) */
export type JobState = (typeof jobStates)[number];

/** The one of `jobStates` that a service names, or `undefined`. */
export function knownState(status: string): JobState | undefined {
  return jobStates.find((state) => state === status);
}

const terminal: ReadonlySet<string> = new Set<JobState>(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);

/** Whether a job in this state has ended. An output proves nothing: `IN_PROGRESS` may carry a partial one. */
export function isTerminal(status: string): boolean {
  return terminal.has(status);
}

/** How a job ended: completed, or failed with a code. A failure is a value, never a stream error. (spec 2.1, 2.6, 7.2) */
export type Outcome<O, C extends FailureCode = FailureCode> = Completed<O> | Failed<C>;

/** The job completed. Times in ms, money in USD. */
export interface Completed<O> {
  status: 'completed';
  /** Opaque id; the empty string for a load-balanced route, which has no jobs. */
  jobId: string;
  /** What the function returned; checked if the endpoint has a schema. */
  output: O;
  /** Reported price in USD; `null` if the service reports none. */
  costUsd: number | null;
  /** How long it waited for a worker, if the service reports it. (spec 2.6) */
  delayTimeMs?: number;
  /** How long a worker ran it, if the service reports it. (spec 2.6) */
  executionTimeMs?: number;
}

/** The job did not complete, or that is not known. `code` is the reason, `paid` whether it cost money. Times in ms. */
export interface Failed<C extends FailureCode = FailureCode> {
  status: 'failed';
  code: C;
  /** Whether it was charged. `maybe`: this is not known, and it is never sent again unasked. */
  paid: Paid;
  /** Known once the service has accepted the job; `attach` polls it again. */
  jobId?: string;
  /** One sentence: what failed, and which (method, path, job id). */
  message: string;
  /** Additional context from the service, redacted. (spec 7.2) */
  detail?: string;
  /** The HTTP status, if the service answered. */
  httpStatus?: number;
  /** Set if the service refused the last try and asked for a wait, at most 10 minutes: do not send it again before that. */
  retryAfterMs?: number;
  /** The output that came with the failure; with `output-mismatch` it does not fit the schema. */
  output?: unknown;
  delayTimeMs?: number;
  executionTimeMs?: number;
}

/**
 * What a job emits: `settled` last, then it completes.
 *
 * - `submitting`: the POST leaves; `sync` to /runsync, whose reply may be the end.
 * - `accepted`: the job has its id, which is what to store.
 * - `status`: the reply to a poll; `partial` is the part of the output that the function has sent so far.
 * - `waiting`: nothing is sent for `forMs`. After `submitting` it means that the POST was refused and bought nothing, unless
 *   `why` is `callback`.
 *
 * Events of a client's job have their time and the facts about its requests so far. Events that an operator adds (such as
 * `over-budget`) have neither.
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
  /** Number of POSTs of the job so far, or of requests for a route's GET. 0 before the first, and for an attached job. */
  attempt?: number;
  /** The HTTP status of its last reply; absent before the first, and after a request without one. */
  httpStatus?: number;
  /** The `x-request-id` of that reply. */
  requestId?: string;
};

/**
 * Why a request waits. `rate-limited`: the service asked for it (429). `backoff`: the last try failed. `not-found`: the service
 * answered 404 about the job, and is asked again before that is believed. `gate`: the gate does not admit it yet. `callback`:
 * the POST had no answer, and the service may still call back about its job.
 */
export type WaitReason = 'rate-limited' | 'backoff' | 'not-found' | 'gate' | 'callback';

/**
 * The steps of a purchase to be stored. A job waits until each checkpoint completes: `intent` before each POST leaves,
 * `accepted` before the first poll, `settled` before the last event. `refused` follows an `intent` whose POST was provably not
 * accepted, so its reservation can be released.
 */
export type CheckpointEvent<O> =
  | { type: 'intent'; sync: boolean; attempt: number }
  | { type: 'refused'; why: string; httpStatus?: number }
  | { type: 'accepted'; jobId: string }
  | { type: 'settled'; outcome: Outcome<O> };

/** Stores an event; completes when it is durable. An error prevents the POST and errors the job. */
export type Checkpoint<O> = (event: CheckpointEvent<O>) => ObservableInput<unknown>;
