import {
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  of,
  type MonoTypeOperatorFunction,
  type Observable,
} from 'rxjs';
import type { Checkpoint, CheckpointEvent, Failed, JobEvent, Outcome } from '../../contract/outcome.js';
import type { JobWebhook } from '../../policy/job-webhook.js';
import type { ResolvedQueueOptions } from '../../policy/queue-options.js';
import type { WireRequest } from '../../transport/transport.js';
import type { JobTrace } from '../requests/request-report.js';

/** All that a job has to know: what it buys, and how. */
export interface JobSpec<O> {
  readonly key: string;
  /** `submit`: a job of a queue endpoint. `retry`: a failed one again. `route-post`: the reply is the answer. */
  readonly purpose: 'submit' | 'retry' | 'route-post';
  readonly sync: boolean;
  /** The POST, as it is or as a stream of it, which may error with `InvalidInputError`. The job lets go of it when it was accepted. */
  request: WireRequest | Observable<WireRequest> | undefined;
  /** How a queue endpoint is asked for a job; a route has none. */
  readonly queue?: { status(jobId: string): WireRequest; cancel(jobId: string): WireRequest };
  /** Checks the output of a completed job against the schema. */
  readonly check: (outcome: Outcome<unknown>) => Observable<Outcome<O>>;
  readonly options: Pick<ResolvedQueueOptions, 'deadlineMs' | 'onUnsubscribe' | 'retry' | 'poll'>;
  /** A job that was bought before: it is polled, never submitted. */
  readonly known?:
    { readonly jobId: string; readonly submittedAt?: number; readonly wasExpired?: boolean } | undefined;
  /** The failed job that is to run again: the answer must be about it. */
  readonly retried?: string | undefined;
  readonly endpoint: string;
  readonly variant?: string | undefined;
  readonly checkpoint?: Checkpoint<O> | undefined;
  /** Where the service calls back about it. */
  readonly webhook?: JobWebhook | undefined;
  /** Errors when the signal of the call aborts. */
  readonly untilAborted: MonoTypeOperatorFunction<JobEvent<O>>;
  /** Receives what is known of its requests. */
  readonly trace?: JobTrace;
  /** Called with every event before its subscribers, also while there is none: notes on it when it was, and reports it. */
  readonly report: (event: JobEvent<O>) => void;
}

/** Completes when the event is durable; at once where there is no checkpoint. */
export function awaitCheckpoint<O>(
  checkpoint: Checkpoint<O> | undefined,
  event: CheckpointEvent<O>,
): Observable<never> {
  return checkpoint === undefined ? EMPTY : defer(() => checkpoint(event)).pipe(ignoreElements());
}

/** The checkpoint event that gives a reservation back. */
export function refusedBy({ message, httpStatus }: Failed): CheckpointEvent<never> {
  return { type: 'refused', why: message, ...(httpStatus !== undefined && { httpStatus }) };
}

/** The end of a job: checked, durable, emitted. */
export function settled<O>(
  outcome: Outcome<unknown>,
  { check, checkpoint }: Pick<JobSpec<O>, 'check' | 'checkpoint'>,
): Observable<JobEvent<O>> {
  return check(outcome).pipe(
    concatMap((checked) => {
      const event = { type: 'settled', outcome: checked } as const;
      return concat(awaitCheckpoint(checkpoint, { ...event }), of<JobEvent<O>>(event));
    }),
  );
}
