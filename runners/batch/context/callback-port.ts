import type { Observable } from 'rxjs';
export { jobIdIn } from '../../../src/contract/service-replies.js';
import type { CallbackResult } from '../../../src/policy/job-webhook.js';
import type { NodeAnswer, NodeCall } from '../../../src/webhooks/answer-calls.js';
import type { CalledPost } from '../../../src/webhooks/callback-tokens.js';
import type { OrphanCallback } from '../../../src/webhooks/called-jobs.js';
import type { RowRecords } from '../journal/journal.js';
import type { IntentRecord } from '../journal/record.js';

/** A server that callbacks come to. It answers 503 while nobody takes them. */
export interface CallbackPort {
  /** Where this machine reaches it. */
  readonly url: string;
  /** Gives each call to `handle` from now on. */
  pass(handle: (request: NodeCall, response: NodeAnswer) => void): void;
  close(): Promise<void>;
}

/** Opens a server at this address; port 0 is a free one. */
export type OpenCallbackPort = (where: {
  readonly host: string;
  readonly port: number;
}) => Promise<CallbackPort>;

/** Hands on a genuine callback about a row that another process may have. It completes without a value where it could not be kept. */
export type HandOn = (callback: OrphanCallback) => Observable<CallbackResult>;

/** What signs the addresses of a run's rows, over all of its starts. */
export interface CallbackSecret {
  readonly run: string;
  readonly secret: string;
}

/** Where the service calls back about the rows of a run, and what signs that. */
export interface CallbackAddress extends CallbackSecret {
  readonly url: string;
}

/** A POST without an answer. */
export interface HeldPost {
  /** Its number among the POSTs of the row. */
  readonly attempt: number;
  readonly endpoint: string;
}

/** A POST, and the job that a callback says it has made. */
export type NamedPost = Pick<CalledPost, 'row' | 'attempt'> & { readonly jobId: string };

/** A row that was to be sent again, and the job that its latest POST has made after all. */
export interface FoundJob {
  readonly jobId: string;
  readonly again: RowRecords & { readonly intent: IntentRecord };
}

/** What a callback has said of a POST that is held, or of one that this start was to send `again`; `isTaken`: its job is asked for by now. */
export type NamedJob = Pick<NamedPost, 'attempt' | 'jobId'> &
  Partial<Pick<FoundJob, 'again'>> & { readonly isTaken?: boolean };

/** Calls of this start that came to this process. */
export interface CallbackCounts {
  /** Jobs whose end they were, or that they informed about. */
  taken: number;
  /** Forged, unreadable, or about another job: nothing changed. */
  refused: number;
}
