import type { FailureCode } from './failure-code.js';
import type { Paid } from './paid.js';

export type { Paid } from './paid.js';

/** How a job ended: completed, or failed with a code. A failure is a value, never a stream error. (spec 2.1, 2.6, 7.2) */
export type Outcome<O> = Completed<O> | Failed;

/** The job completed. Times in ms, money in USD. */
export interface Completed<O> {
  status: 'completed';
  /** Opaque id. A load-balanced route has no job: there it is the empty string. */
  jobId: string;
  output: O;
  /** Reported price in USD; `null` where the service reports none. */
  costUsd: number | null;
  delayTimeMs?: number;
  executionTimeMs?: number;
}

/** The job did not complete, or nobody can tell. `code` says why, `paid` what it cost. Times in ms. */
export interface Failed {
  status: 'failed';
  code: FailureCode;
  paid: Paid;
  jobId?: string;
  /** One sentence: what failed, and which (method, path, job id). */
  message: string;
  /** Additional context from the service, redacted. (spec 7.2) */
  detail?: string;
  httpStatus?: number;
  output?: unknown;
  delayTimeMs?: number;
  executionTimeMs?: number;
}

/** What a subscriber of a job sees: `settled` last, then completion. */
export type JobEvent<O> =
  | { type: 'submitting'; sync: boolean }
  | { type: 'accepted'; jobId: string }
  | { type: 'status'; status: string; delayTimeMs?: number; partial?: unknown }
  | { type: 'waiting'; why: WaitReason; forMs: number }
  | { type: 'settled'; outcome: Outcome<O> };

/** Why a request waits: the service asked for it (429), a try before failed, or the gate has no room yet. */
export type WaitReason = 'rate-limited' | 'backoff' | 'gate';
