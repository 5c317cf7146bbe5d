import type { Observer, Unsubscribable } from 'rxjs';
import type { Due } from '../due-queue.js';
import type { PollPlan } from './plan-polls.js';
import { longestWaitMs, type PollJob } from './poll-schedule.js';
import type { BelievedStart, QueueModel } from './queue-model.js';

/** A job that is polled. Times in ms since the epoch by the scheduler. */
export interface PolledJob {
  readonly job: PollJob;
  /** Endpoint and variant. */
  readonly variant: string;
  /** Receives the times of its polls. */
  readonly times: Pick<Observer<void>, 'next'>;
}

/** The parts of a status reply that the schedule uses. */
export interface JobProgress {
  readonly at: number;
  readonly state: 'waiting' | 'working' | 'ended';
  /** Only if the service reports delayTime. */
  readonly startedAt?: number | undefined;
  /** Only if the service reports executionTime. */
  readonly endedAt?: number | undefined;
}

/** The jobs of the same endpoint. */
interface Owner {
  /** Returns the estimated run time of an ended job in ms. */
  replied(job: TrackedJob, progress: JobProgress): number;
  /** The ages at which jobs of this variant were last known to be running. */
  runningAges(variant: string): number[];
  /** Sets all poll times again. */
  rearm(): void;
  /** Called when its poll is due. */
  fired(job: TrackedJob): void;
  /** Called when nobody polls it any more. */
  left(job: TrackedJob): void;
}

/** The wait after a reply that the job is still queued: first half of the mean time between two starts, then ever longer. */
const waitingBackoff = { gaps: 0.5, leastMs: 250, factor: 1.6, mostMs: 30_000 };

/**
 * One job in flight: the facts from its replies, its probable start, and the time of its next poll. It does not keep the `PollJob`,
 * which would take 56 bytes more.
 */
export class TrackedJob implements Due, Unsubscribable {
  readonly key: string;
  readonly jobId: string | undefined;
  readonly submittedAt: number;
  readonly variant: string;
  /** Another job with the same key. */
  another: TrackedJob | undefined;
  polling = false;
  /** Whether a poll was sent and no reply was observed since. */
  isAsked = false;
  dueAt = 0;
  place = -1;
  private readonly isSync: boolean | undefined;
  private readonly times: PolledJob['times'];
  /** The latest time at which it had not ended. */
  private aliveAt: number;
  /** The latest time at which it had not started. */
  private waitingAt: number;
  private timesWaiting = 0;
  private startedAt: number | undefined;

  /** @param rank its place in the queue */
  constructor(
    { job, variant, times }: PolledJob,
    readonly rank: number,
    readonly owner: Owner,
  ) {
    this.key = job.key;
    this.jobId = job.jobId;
    this.submittedAt = job.submittedAt;
    this.isSync = job.sync;
    this.variant = variant;
    this.times = times;
    this.aliveAt = this.submittedAt;
    this.waitingAt = this.submittedAt;
  }

  due(): void {
    this.owner.fired(this);
  }

  unsubscribe(): void {
    this.owner.left(this);
  }

  poll(): void {
    this.polling = true;
    this.isAsked = true;
    this.times.next();
  }

  startBy(queue: QueueModel): BelievedStart | undefined {
    if (this.startedAt !== undefined) return { at: this.startedAt, by: 'count', gapMs: 0 };
    const believed = queue.startOf(this.rank, this.submittedAt);
    return believed === undefined ? undefined : { ...believed, at: Math.max(believed.at, this.waitingAt) };
  }

  /** When to poll it next, at the latest before the service may forget its result. */
  dueBy(queue: QueueModel, planOf: (variant: string) => PollPlan): number {
    const latest = this.aliveAt + longestWaitMs({ sync: this.isSync });
    const start = this.startBy(queue);
    return start === undefined ? latest : Math.min(latest, this.dueAfter(start, planOf));
  }

  private dueAfter(start: BelievedStart, planOf: (variant: string) => PollPlan): number {
    const wait = planOf(this.variant).nextAgeMs(Math.max(0, this.aliveAt - start.at));
    const due = start.at + (start.by === 'rate' ? wait / 2 : wait);
    if (this.timesWaiting === 0) return due;
    const { gaps, leastMs, factor, mostMs } = waitingBackoff;
    const pause = Math.max(leastMs, gaps * start.gapMs) * factor ** (this.timesWaiting - 1);
    const again = this.waitingAt + Math.min(mostMs, pause);
    return start.by === 'rate' ? again : Math.max(due, again);
  }

  /** Its age when it was last known to be running; `undefined` while it waits, or while its start is a guess. */
  runningAgeBy(queue: QueueModel): number | undefined {
    const start = this.timesWaiting === 0 ? this.startBy(queue) : undefined;
    return start?.by === 'count' && this.aliveAt > start.at ? this.aliveAt - start.at : undefined;
  }

  /** Its estimated run time, for a reply at `end.at` that reports its end. */
  ranForMs(queue: QueueModel, end: JobProgress): number {
    const endsAbout = end.endedAt ?? (this.aliveAt + end.at) / 2;
    return Math.max(0, endsAbout - (end.startedAt ?? this.startBy(queue)?.at ?? this.waitingAt));
  }

  sawWaiting(queue: QueueModel, at: number): void {
    const believed = this.startBy(queue);
    queue.sawWaiting(this.rank, at, believed?.by === 'count');
    this.waitingAt = at;
    // Behind others it was polled only so that its result is not forgotten: its start was not expected.
    if (believed !== undefined) this.timesWaiting += 1;
    this.aliveAt = at;
  }

  sawWorking(queue: QueueModel, at: number, startedAt: number | undefined): void {
    const believed = this.startBy(queue);
    queue.sawWorking(this.rank, at, startedAt);
    this.startedAt ??= startedAt ?? Math.min(at, believed?.at ?? (this.waitingAt + at) / 2);
    this.timesWaiting = 0;
    this.aliveAt = at;
  }
}
