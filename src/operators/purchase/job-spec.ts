import type { MonoTypeOperatorFunction, Observable, ObservableInput } from 'rxjs';
import type { Checkpoint, JobEvent, Outcome } from '../../contract/outcome.js';
import type { ResolvedQueueOptions } from '../../policy/queue-options.js';
import type { WireRequest } from '../../transport/transport.js';

/** What is to be bought, and how: all that a job needs to know. */
export interface Order<O> {
  readonly key: string;
  /** `submit`: a job of a queue endpoint. `retry`: a failed one again. `route-post`: the reply is the answer. */
  readonly purpose: 'submit' | 'retry' | 'route-post';
  readonly sync: boolean;
  /** The POST, as it is or as a stream of it. Errors with `InvalidInputError`. */
  readonly request: (() => WireRequest) | Observable<WireRequest>;
  /** How a queue endpoint is asked for a job; a route has none. */
  readonly queue?: { status(jobId: string): WireRequest; cancel(jobId: string): WireRequest };
  /** Checks the output of a completed job against the schema. */
  readonly check: (outcome: Outcome<unknown>) => ObservableInput<Outcome<O>>;
  readonly options: Pick<ResolvedQueueOptions, 'deadlineMs' | 'onUnsubscribe' | 'retry' | 'poll'>;
  /** A job that was bought before: it is polled, never submitted. */
  readonly known?: { readonly jobId: string; readonly submittedAt?: number } | undefined;
  /** The failed job that is to run again: the answer must be about it. */
  readonly retried?: string | undefined;
  readonly endpoint: string;
  readonly variant?: string | undefined;
  readonly checkpoint?: Checkpoint<O> | undefined;
  /** Errors when the signal of the call aborts. */
  readonly untilAborted: MonoTypeOperatorFunction<JobEvent<O>>;
  /** Told of every event, also while nobody is subscribed. */
  readonly tell: (event: JobEvent<O>) => void;
}
