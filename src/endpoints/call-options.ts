import type { Checkpoint } from '../contract/outcome.js';

/** Options of one call. */
export interface CallOptions<O = unknown> {
  /** Names the job at the gate, the poll schedule and `activity$`. @defaultValue the endpoint's id and a number */
  key?: string;
  /** Aborting unsubscribes everybody: they get the signal's reason as an error. The job itself is left as by unsubscribing. */
  signal?: AbortSignal;
  /** Instead of the endpoint's, in ms. */
  deadlineMs?: number;
  /** Awaited at each step that must not be forgotten: how a journal is kept. */
  checkpoint?: Checkpoint<O>;
  /** What decides how long the job will run, a resolution for one: a learning poll schedule goes by it. */
  variant?: string;
}

export interface AttachOptions<O = unknown> extends CallOptions<O> {
  /** When the job was submitted, in ms since the epoch. @defaultValue the time of the first subscription */
  submittedAt?: number;
}
