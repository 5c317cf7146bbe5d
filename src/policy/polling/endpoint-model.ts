import type { SchedulerLike, Subscription } from 'rxjs';
import { DueQueue } from '../due-queue.js';
import type { PollPlan } from './plan-polls.js';
import { createQueueModel, type QueueModel } from './queue-model.js';
import { TrackedJob, type JobProgress, type PolledJob } from './tracked-job.js';

/** If no job has started or ended for this long, the first waiting job is polled all the same. */
const stall = { leastMs: 1_000, mostMs: 120_000 };
/** A poll time that has moved by no more than this is not set again. */
const toleranceMs = 5;

/**
 * The jobs in flight at one endpoint, in order of submission, with their next poll times. A job that waits behind others is polled
 * once one of those has started or ended; if that does not happen for a while, only the first waiting job is polled, and the others
 * before the service may forget their results.
 */
export class EndpointModel {
  readonly #queue = createQueueModel();
  readonly #jobs = new Map<number, TrackedJob>();
  readonly #blocked = createRankQueue();
  readonly #dues: DueQueue;
  #stalled: Subscription | undefined;
  #stalls = 0;

  /** @param forget called with each job that is no longer polled */
  constructor(
    private readonly planOf: (variant: string) => PollPlan,
    private readonly scheduler: SchedulerLike,
    private readonly forget: (job: TrackedJob) => void,
  ) {
    this.#dues = new DueQueue(scheduler);
  }

  add(given: PolledJob): TrackedJob {
    const job = new TrackedJob(given, this.#queue.join(), this);
    this.#jobs.set(job.rank, job);
    this.#arm(job);
    return job;
  }

  left(job: TrackedJob): void {
    this.forget(job);
    this.#remove(job, { at: this.scheduler.now(), waited: false });
  }

  /** Ages at which jobs of this variant were last known to be running: censored samples. */
  runningAges(variant: string): number[] {
    const ages: number[] = [];
    for (const job of this.#jobs.values()) {
      const ageMs = job.variant === variant ? job.runningAgeBy(this.#queue) : undefined;
      if (ageMs !== undefined) ages.push(ageMs);
    }
    return ages;
  }

  /** Sets all poll times again, because the run-time distribution has changed. */
  rearm(): void {
    for (const job of this.#jobs.values()) if (job.place >= 0 && !this.#isBlocked(job)) this.#arm(job);
  }

  #arm(job: TrackedJob): void {
    this.#dues.remove(job);
    if (job.polling || !this.#jobs.has(job.rank)) return;
    if (this.#isBlocked(job)) {
      this.#blocked.add(job.rank);
      this.#watchForStall();
    }
    this.#dues.set(job, job.dueBy(this.#queue, this.planOf));
  }

  /** Whether it waits behind jobs of which one has to start or end before its own start can be estimated. */
  #isBlocked(job: TrackedJob): boolean {
    return job.startBy(this.#queue) === undefined;
  }

  /** Called at a poll time, which may have moved since it was set. */
  fired(job: TrackedJob): void {
    if (job.dueBy(this.#queue, this.planOf) > this.scheduler.now() + toleranceMs) this.#arm(job);
    else job.poll();
  }

  /** Returns the estimated run time of an ended job in ms, if the service does not report it. */
  replied(job: TrackedJob, progress: JobProgress): number {
    const { at, state, startedAt, endedAt } = progress;
    job.polling = false;
    if (state === 'ended') {
      const ranForMs = job.ranForMs(this.#queue, progress);
      const waited = startedAt !== undefined && startedAt - job.submittedAt > 100;
      this.#remove(job, { at: Math.min(endedAt ?? at, at), startedAt, waited });
      return ranForMs;
    }
    if (state === 'waiting') job.sawWaiting(this.#queue, at);
    else job.sawWorking(this.#queue, at, startedAt);
    this.#arm(job);
    if (state === 'working') this.#moved();
    return 0;
  }

  #remove(job: TrackedJob, end: Parameters<QueueModel['ended']>[1]): void {
    if (!this.#jobs.delete(job.rank)) return;
    this.#dues.remove(job);
    this.#queue.ended(job.rank, end);
    this.#moved();
  }

  /** Called when a job has started or ended: sets the poll times of the first waiting jobs whose start can be estimated now. */
  #moved(): void {
    this.#stalls = 0;
    this.#stalled?.unsubscribe();
    this.#stalled = undefined;
    for (let rank = this.#blocked.first(); rank !== undefined; rank = this.#blocked.first()) {
      const job = this.#jobs.get(rank);
      if (job !== undefined && this.#isBlocked(job)) break;
      this.#blocked.removeFirst();
      if (job !== undefined) this.#arm(job);
    }
    this.#watchForStall();
  }

  #watchForStall(): void {
    const head = this.#jobs.get(this.#blocked.first() ?? -1);
    if (this.#stalled !== undefined || head === undefined) return;
    const patience = Math.max(stall.leastMs, 3 * this.planOf(head.variant).nextAgeMs(0));
    const wait = Math.min(stall.mostMs, patience * 2 ** this.#stalls);
    this.#stalled = this.scheduler.schedule(() => this.#stoodStill(), wait);
  }

  #stoodStill(): void {
    this.#stalled = undefined;
    this.#stalls += 1;
    const job = this.#jobs.get(this.#blocked.removeFirst() ?? -1);
    if (job !== undefined && !job.polling) {
      this.#dues.remove(job);
      job.poll();
    }
    this.#watchForStall();
  }
}

/** Ranks in ascending order. A rank is nearly always added at the end and removed at the front. */
function createRankQueue() {
  let ranks: number[] = [];
  let removed = 0;
  return {
    add(rank: number): void {
      let place = ranks.length;
      while (place > removed && (ranks[place - 1] ?? 0) > rank) place -= 1;
      if (place > removed && ranks[place - 1] === rank) return;
      ranks.splice(place, 0, rank);
    },
    first: (): number | undefined => ranks[removed],
    removeFirst(): number | undefined {
      const rank = ranks[removed];
      if (rank !== undefined) removed += 1;
      if (removed > 256 && removed * 2 > ranks.length) {
        ranks = ranks.slice(removed);
        removed = 0;
      }
      return rank;
    },
  };
}
