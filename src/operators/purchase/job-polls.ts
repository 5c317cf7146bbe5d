import type { WireRequest } from '../../transport/transport.js';
import type { BackoffLimits } from '../../policy/retry-delay.js';
import type { PollSchedule } from '../../policy/polling/poll-schedule.js';
import type { StatusEvent } from '../requests/outcome-of.js';
import type { PollTask } from '../requests/poll-until-terminal.js';
import type { JobTrace } from '../requests/request-report.js';
import type { JobSpec } from './job-spec.js';
import type { JobState } from './job-state.js';

/** The polls of a job that has an id. Nothing is kept here that the job has: thousands of jobs wait at a time. */
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
    // A job that was submitted before the clock was set back is not asked for hours too late.
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

  get wasExpired(): boolean {
    return this.job.spec.known?.wasExpired === true;
  }

  get request(): WireRequest {
    return this.queue.status(this.jobId);
  }

  get backoff(): BackoffLimits {
    return this.job.spec.options.retry;
  }

  get trace(): JobTrace | undefined {
    return this.job.spec.trace;
  }

  get last(): StatusEvent | undefined {
    return this.job.lastStatus;
  }

  onCall(): void {
    this.job.statusCalls += 1;
  }

  begun(polls: { end(): void }): void {
    this.job.polls = polls;
  }
}
