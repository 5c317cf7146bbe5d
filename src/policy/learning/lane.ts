import { asyncScheduler, type SchedulerLike, type Subscription } from 'rxjs';
import { clampTimer } from '../clamp-timer.js';
import type { PollPlan } from './plan-polls.js';
import { createQueueLine } from './queue-line.js';
import { createRankQueue } from './rank-queue.js';
import { TrackedJob, type LaneJob } from './tracked-job.js';

/** What a status reply says, as far as the schedule cares. */
export interface LaneReply {
  readonly at: number;
  readonly state: 'waiting' | 'working' | 'ended';
  /** Only where the service reports delayTime. */
  readonly startedAt?: number;
  /** Only where the service reports executionTime. */
  readonly endedAt?: number;
}

export interface Lane {
  add(job: LaneJob): LaneTicket;
  /** Ages at which jobs of this variant were last known to be at work: censored samples. */
  runningAges(variant: string): number[];
  /** The law has changed: all poll times are set anew. */
  rearm(): void;
  readonly width: number;
}

export interface LaneTicket {
  /** Returns how long an ended job is believed to have run, in ms; for a service that does not report it. */
  reply(reply: LaneReply): number;
  leave(): void;
}

/** Nothing has moved for so long: the foremost waiting job is asked all the same. */
const stall = { leastMs: 1_000, mostMs: 120_000 };
/** A poll time may move by so little without being set anew. */
const toleranceMs = 5;

/**
 * The jobs in flight at one endpoint, in order of submission, and when each is asked next. A job that waits behind
 * others has no poll time of its own until those ahead have moved; only the foremost of them is asked when nothing
 * has moved for a while.
 */
export function createLane(
  planOf: (variant: string) => PollPlan,
  scheduler: SchedulerLike = asyncScheduler,
): Lane {
  return new QueueLane(planOf, scheduler);
}

class QueueLane implements Lane {
  private readonly line = createQueueLine();
  private readonly jobs = new Map<number, TrackedJob>();
  private readonly blocked = createRankQueue();
  private stalled: Subscription | undefined;
  private stalls = 0;

  constructor(
    private readonly planOf: (variant: string) => PollPlan,
    private readonly scheduler: SchedulerLike,
  ) {}

  get width(): number {
    return this.line.width;
  }

  add(given: LaneJob): LaneTicket {
    const job = new TrackedJob(given, this.line.join());
    this.jobs.set(job.rank, job);
    this.arm(job);
    return {
      reply: (reply) => this.replied(job, reply),
      leave: () => this.remove(job, { at: this.scheduler.now(), waited: false }),
    };
  }

  runningAges(variant: string): number[] {
    const ages: number[] = [];
    for (const job of this.jobs.values()) {
      const ageMs = job.variant === variant ? job.runningAgeBy(this.line) : undefined;
      if (ageMs !== undefined) ages.push(ageMs);
    }
    return ages;
  }

  rearm(): void {
    for (const job of this.jobs.values()) if (job.timer !== undefined) this.arm(job);
  }

  private dueOf(job: TrackedJob): number | undefined {
    return job.dueBy(this.line, this.planOf);
  }

  private arm(job: TrackedJob): void {
    job.timer?.unsubscribe();
    job.timer = undefined;
    if (job.polling || !this.jobs.has(job.rank)) return;
    const due = this.dueOf(job);
    if (due === undefined) {
      this.blocked.add(job.rank);
      this.watchForStall();
      return;
    }
    job.timer = this.scheduler.schedule(() => this.rang(job), clampTimer(due - this.scheduler.now()));
  }

  /** What was learned since the timer was set may have moved the poll time. */
  private rang(job: TrackedJob): void {
    const due = this.dueOf(job);
    if (due === undefined || due > this.scheduler.now() + toleranceMs) this.arm(job);
    else this.ask(job);
  }

  private ask(job: TrackedJob): void {
    job.timer?.unsubscribe();
    job.timer = undefined;
    job.polling = true;
    job.poll();
  }

  private replied(job: TrackedJob, { at, state, startedAt, endedAt }: LaneReply): number {
    job.polling = false;
    if (state === 'ended') {
      const ranForMs = job.ranForMs(this.line, {
        at,
        ...(startedAt !== undefined && { startedAt }),
        ...(endedAt !== undefined && { endedAt }),
      });
      const waited = startedAt !== undefined && startedAt - job.submittedAt > 100;
      const end = { at: Math.min(endedAt ?? at, at), waited };
      this.remove(job, startedAt === undefined ? end : { ...end, startedAt });
      return ranForMs;
    }
    if (state === 'waiting') job.sawWaiting(this.line, at);
    else job.sawWorking(this.line, at, startedAt);
    this.arm(job);
    if (state === 'working') this.moved();
    return 0;
  }

  private remove(job: TrackedJob, end: { at: number; startedAt?: number; waited: boolean }): void {
    if (!this.jobs.delete(job.rank)) return;
    job.timer?.unsubscribe();
    this.line.ended(job.rank, end);
    this.moved();
  }

  private moved(): void {
    this.stalls = 0;
    this.stalled?.unsubscribe();
    this.stalled = undefined;
    this.release();
  }

  /** Those at the front of the waiting whose start is believed now get a poll time. */
  private release(): void {
    for (let rank = this.blocked.first(); rank !== undefined; rank = this.blocked.first()) {
      const job = this.jobs.get(rank);
      if (job !== undefined && job.startBy(this.line) === undefined) break;
      this.blocked.removeFirst();
      if (job !== undefined) this.arm(job);
    }
    this.watchForStall();
  }

  private watchForStall(): void {
    const head = this.jobs.get(this.blocked.first() ?? -1);
    if (this.stalled !== undefined || head === undefined) return;
    const patience = Math.max(stall.leastMs, 3 * this.planOf(head.variant).nextAgeMs(0));
    const wait = Math.min(stall.mostMs, patience * 2 ** this.stalls);
    this.stalled = this.scheduler.schedule(() => this.stoodStill(), wait);
  }

  private stoodStill(): void {
    this.stalled = undefined;
    this.stalls += 1;
    const job = this.jobs.get(this.blocked.removeFirst() ?? -1);
    if (job !== undefined && !job.polling) this.ask(job);
    this.watchForStall();
  }
}
