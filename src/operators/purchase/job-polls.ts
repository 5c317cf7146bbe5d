import type { WireRequest } from '../../transport/transport.js';
import type { BackoffLimits } from '../../policy/retry-delay.js';
import type { PollSchedule } from '../../policy/polling/poll-schedule.js';
import { type StatusEvent, outcomeOf } from '../requests/outcome-of.js';
import type { PollTask } from '../requests/poll-until-terminal.js';
import type { JobTrace } from '../requests/request-report.js';
import type { JobSpec } from './job-spec.js';
import type { JobState } from './job-state.js';
import { catchError, EMPTY, filter, map, type Observable } from 'rxjs';
import { isTerminal, type Outcome } from '../../contract/outcome.js';
import { ask } from '../requests/ask-until-answered.js';
import type { ClientContext, RunningPolls } from '../requests/exchange.js';

/** The polls of a job that has an id. It keeps no copies of the job's data, because thousands of jobs may wait at a time. */
export class JobPolls<O> implements PollTask {
  readonly submittedAt: number;
  readonly atOnce: boolean;

  constructor(
    private readonly job: JobState<O>,
    private readonly queue: NonNullable<JobSpec<O>['queue']>,
    readonly jobId: string,
    readonly schedule: PollSchedule,
  ) {
    const { spec, context, sentAt } = job;
    this.atOnce = job.isPolledAtOnce;
    job.isPolledAtOnce = true;
    // If the clock was set back after the job was submitted, it would otherwise be polled hours too late.
    const now = context.scheduler.now();
    this.submittedAt = Math.min(spec.known?.submittedAt ?? sentAt ?? now, now);
  }

  get key(): string {
    return this.job.spec.key;
  }

  get endpoint(): string {
    return this.job.spec.endpoint;
  }

  get variant(): string | undefined {
    return this.job.spec.variant;
  }

  get sync(): boolean {
    const { known, sync } = this.job.spec;
    return known?.sync ?? sync;
  }

  get wasExpired(): boolean {
    return this.job.spec.known?.wasExpired === true;
  }

  get request(): WireRequest {
    return this.queue.status(this.jobId);
  }

  get backoff(): BackoffLimits {
    return this.job.spec.options.retry;
  }

  get trace(): JobTrace {
    return this.job.spec.trace;
  }

  get last(): StatusEvent | undefined {
    return this.job.lastStatus;
  }

  onCall(): void {
    this.job.statusCalls += 1;
  }

  begun(polls: RunningPolls): void {
    this.job.polls = polls;
  }
}

/**
 * The /cancel of a job. Emits the outcome if the answer is an end of the job. A job that has completed meanwhile is
 * paid, and ends by a poll, which fetches its output. Never errors: polling continues if there was no answer.
 */
export function cancelAtService(
  jobId: string,
  { key, queue, options, trace }: Pick<JobSpec<unknown>, 'key' | 'queue' | 'options' | 'trace'>,
  context: ClientContext,
): Observable<Outcome<unknown>> {
  if (queue === undefined) return EMPTY;
  const request = queue.cancel(jobId);
  return ask({ purpose: 'cancel', key, request, jobId, trace }, options.retry, context).pipe(
    map((reading) => ('job' in reading ? reading.job : undefined)),
    filter((job) => job !== undefined && isTerminal(job.status) && job.status !== 'COMPLETED'),
    map((job) => outcomeOf({ ...job, id: jobId } as Parameters<typeof outcomeOf>[0], request)),
    catchError(() => EMPTY),
  );
}
