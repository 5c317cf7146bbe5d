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
import { awaitable } from '../../policy/guard-hooks.js';
import type { JobWebhook } from '../../policy/job-webhook.js';
import type { ResolvedQueueOptions } from '../../policy/queue-options.js';
import type { WireRequest } from '../../transport/transport.js';
import type { JobTrace } from '../requests/request-report.js';

/** Everything that a job needs: its requests, checks and options. */
export interface JobSpec<O> {
  readonly key: string;
  /** `submit`: a job of a queue endpoint. `retry`: a failed one again. `route-post`: the reply is the answer. */
  readonly purpose: 'submit' | 'retry' | 'route-post';
  readonly sync: boolean;
  /** The POST, directly or as a stream, which may error with `InvalidInputError`. The job drops it when it is accepted. */
  request: WireRequest | Observable<WireRequest> | undefined;
  /** The requests about a job of a queue endpoint; absent for a route. */
  readonly queue?: { status(jobId: string): WireRequest; cancel(jobId: string): WireRequest };
  /** Checks the output of a completed job against the schema. */
  readonly check: (outcome: Outcome<unknown>) => Observable<Outcome<O>>;
  readonly options: Pick<ResolvedQueueOptions, 'deadlineMs' | 'onUnsubscribe' | 'retry' | 'poll'>;
  /** A job that was bought before, which is polled and never submitted. */
  readonly known?:
    | {
        readonly jobId: string;
        readonly submittedAt?: number;
        readonly sync?: boolean;
        readonly wasExpired?: boolean;
      }
    | undefined;
  /** The failed job that is to run again. The answer must name it. */
  readonly retried?: string | undefined;
  readonly endpoint: string;
  readonly variant?: string | undefined;
  readonly checkpoint?: Checkpoint<O> | undefined;
  /** The callbacks of the service about it. */
  readonly webhook?: JobWebhook | undefined;
  /** Errors when the signal of the call aborts. */
  readonly untilAborted: MonoTypeOperatorFunction<JobEvent<O>>;
  /** Collects facts about its requests. */
  readonly trace: JobTrace;
  /** Called with every event before its subscribers, even if there are none. Notes the time of the event, and reports it. */
  readonly report: (event: JobEvent<O>, trace: JobTrace) => void;
}

/** Completes when the event is durable; at once if there is no checkpoint. */
export function awaitCheckpoint<O>(
  checkpoint: Checkpoint<O> | undefined,
  event: CheckpointEvent<O>,
): Observable<never> {
  if (checkpoint === undefined) return EMPTY;
  return defer(() => awaitable('checkpoint', checkpoint(event))).pipe(ignoreElements());
}

/** The checkpoint event that gives a reservation back. */
export function refusedBy({ message, httpStatus }: Failed): CheckpointEvent<never> {
  return { type: 'refused', why: message, ...(httpStatus !== undefined && { httpStatus }) };
}

/** Ends a job: checks the outcome, waits until it is durable, and emits it. */
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
