import type { Observable } from 'rxjs';
export { jobIdIn } from '../../../src/contract/service-replies.js';
import type { CallbackResult } from '../../../src/policy/job-webhook.js';
import type { NodeAnswer, NodeCall } from '../../../src/webhooks/answer-calls.js';
import type { CalledPost } from '../../../src/webhooks/callback-tokens.js';
import type { OrphanCallback } from '../../../src/webhooks/called-jobs.js';
import type { RowRecords } from '../journal/journal.js';
import type { IntentRecord } from '../journal/record.js';

/** A server that receives callbacks. It answers 503 until `pass` is called. */
export interface CallbackPort {
  /** The URL by which this machine reaches it. */
  readonly url: string;
  /** Passes each call to `handle` from now on. */
  pass(handle: (request: NodeCall, response: NodeAnswer) => void): void;
  close(): Promise<void>;
}

/** Opens a server at this address; port 0 means a free one. */
export type OpenCallbackPort = (where: {
  readonly host: string;
  readonly port: number;
}) => Promise<CallbackPort>;

/**
 * Passes on a genuine callback about a row that another process may have. Completes without a value if the callback
 * could not be stored.
 */
export type HandOn = (callback: OrphanCallback) => Observable<CallbackResult>;

/** The secret that signs the callback URLs of a run's rows, over all of its starts. */
export interface CallbackSecret {
  readonly run: string;
  readonly secret: string;
}

/** The URL at which the service calls back about the rows of a run, with the secret that signs it. */
export interface CallbackAddress extends CallbackSecret {
  readonly url: string;
}

/** A POST without an answer. */
export interface HeldPost {
  /** Its number among the POSTs of the row, counted from 1. */
  readonly attempt: number;
  readonly endpoint: string;
}

/** A POST, and the job that it created according to a callback. */
export type JobOfPost = Pick<CalledPost, 'row' | 'attempt'> & { readonly jobId: string };

/** A row that was to be sent again, and the job that its latest POST created after all. */
export interface JobOfWaitingRow {
  readonly jobId: string;
  readonly again: RowRecords & { readonly intent: IntentRecord };
}

/**
 * The job that a callback named for a held POST, or for one that this start was to send again (`again`). `isTaken`: the job is
 * polled already.
 */
export type NamedJob = Pick<JobOfPost, 'attempt' | 'jobId'> &
  Partial<Pick<JobOfWaitingRow, 'again'>> & { readonly isTaken?: boolean };

/** Callbacks that this process received in this start. */
export interface CallbackCounts {
  /** Callbacks about a job's end or state that were used. */
  taken: number;
  /** Forged, unreadable, or about another job: nothing changed. */
  refused: number;
}
