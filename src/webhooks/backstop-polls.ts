import { Observable, type Subscriber, type Subscription, BehaviorSubject, type SchedulerLike } from 'rxjs';
import type { JobReply } from '../contract/service-replies.js';
import { isTerminal } from '../contract/outcome.js';
import { clampTimer, type LateClock } from '../policy/client-clock.js';
import type { PollJob, PollSchedule } from '../policy/polling/poll-schedule.js';

/** While callbacks arrive, the first poll of a job waits this many times the slowest recent turnaround, within these limits. */
const patience = { turnarounds: 3, leastMs: 5_000, mostMs: 600_000 };
/** The wait before it is known whether callbacks arrive. */
const hopefulMs = 60_000;

interface WatchedJob {
  readonly job: PollJob;
  readonly subscriber: Subscriber<void>;
  /** The poll schedule of the job as it is now. */
  polls: Subscription | undefined;
  /** How many polls were sent because no callback arrived. */
  asked: number;
}

/**
 * Polls in addition to callbacks: by the given schedule if callbacks do not arrive, rarely while they do. Until that is known,
 * one job at a time is polled by the schedule, to notice missing callbacks. After a poll has seen a job's end, no other job is
 * polled until its callback has arrived or is missing.
 */
export class BackstopPolls implements PollSchedule {
  private readonly jobs = new Set<WatchedJob>();
  private readonly byKey = new Map<string, WatchedJob>();
  /** Jobs whose callback has arrived: a poll that sees their end has not found a missing callback. */
  private readonly called = new Set<string>();
  private canary: WatchedJob | undefined;

  constructor(
    private readonly schedule: PollSchedule,
    private readonly health: CallbackHealth,
    private readonly clock: LateClock,
  ) {
    health.state$.subscribe(() => {
      for (const watched of [...this.jobs]) this.arm(watched);
    });
  }

  pollTimes(job: PollJob): Observable<void> {
    return new Observable((subscriber) => {
      const watched: WatchedJob = { job, subscriber, polls: undefined, asked: 0 };
      this.jobs.add(watched);
      this.byKey.set(job.key, watched);
      this.arm(watched);
      return () => this.leave(watched);
    });
  }

  observe(key: string, reply: JobReply, at: number): void {
    this.schedule.observe(key, reply, at);
    if (!isTerminal(reply.status) || this.called.delete(key)) return;
    this.health.polled(key, this.byKey.get(key)?.job.submittedAt ?? this.clock.scheduler.now());
  }

  /**
   * Call it when the callback of a job has arrived. Returns the time since its submission, in ms; `undefined` if the job is not
   * polled.
   */
  calledBack(key: string): number | undefined {
    const watched = this.byKey.get(key);
    if (watched === undefined) return undefined;
    this.called.add(key);
    return this.clock.scheduler.now() - watched.job.submittedAt;
  }

  useClock(clock: Parameters<NonNullable<PollSchedule['useClock']>>[0]): void {
    this.clock.use(clock);
    this.schedule.useClock?.(clock);
  }

  private leave(watched: WatchedJob): void {
    watched.polls?.unsubscribe();
    this.jobs.delete(watched);
    const { key } = watched.job;
    if (this.byKey.get(key) === watched) {
      this.byKey.delete(key);
      this.called.delete(key);
    }
    if (this.canary !== watched) return;
    this.canary = undefined;
    const [next] = this.jobs;
    if (next !== undefined) this.arm(next);
  }

  private arm(watched: WatchedJob): void {
    watched.polls?.unsubscribe();
    const state = this.health.state$.value;
    if (state !== 'hoped') this.canary = undefined;
    else if (!this.health.isUndecided) this.canary ??= watched;
    const isUsual = state === 'missing' || watched === this.canary;
    watched.polls = isUsual ? this.usually(watched) : this.rarely(watched);
  }

  private usually({ job, subscriber }: WatchedJob): Subscription {
    return this.schedule.pollTimes(job).subscribe({
      next: () => subscriber.next(),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
  }

  private rarely(watched: WatchedJob): Subscription {
    const { scheduler } = this.clock;
    const { submittedAt } = watched.job;
    const firstMs = this.firstMs();
    const age = Math.max(scheduler.now() - submittedAt, 0);
    const waitMs = watched.asked === 0 ? Math.max(firstMs - age, patience.leastMs) : firstMs;
    return scheduler.schedule(() => {
      watched.asked += 1;
      watched.subscriber.next();
      if (this.jobs.has(watched)) watched.polls = this.rarely(watched);
    }, clampTimer(waitMs));
  }

  private firstMs(): number {
    const { health } = this;
    if (health.state$.value === 'hoped') return hopefulMs;
    const { turnarounds, leastMs, mostMs } = patience;
    return Math.min(Math.max(turnarounds * health.slowestMs, leastMs), mostMs);
  }
}

/** Whether callbacks arrive; `hoped` before any job has ended. */
type CallbackState = 'hoped' | 'coming' | 'missing';

/** The number of latest ends that count. */
const window = 20;
/** A callback that arrives at most this many ms after the poll was already on its way. */
const graceMs = 2_000;
/** The slowest turnaround is multiplied by this with each job, so that an old one is forgotten. */
const memory = 0.98;

/** Decides whether the service calls back: whether a callback, or only a poll, reported the end of each job. */
export class CallbackHealth {
  readonly state$ = new BehaviorSubject<CallbackState>('hoped');
  /** The longest recent time from a submission to its callback, in ms; 0 before the first. */
  slowestMs = 0;
  private readonly ends: boolean[] = [];
  /** Jobs whose end a poll has seen, and whose callback may still be on its way. */
  private readonly polledEnds = new Map<
    string,
    { readonly wait: Subscription; readonly submittedAt: number }
  >();

  constructor(private readonly scheduler: SchedulerLike) {}

  /** Call it when a callback arrives about a job that was submitted `turnaroundMs` ago. */
  came(key: string, turnaroundMs: number): void {
    this.polledEnds.get(key)?.wait.unsubscribe();
    this.polledEnds.delete(key);
    this.slowestMs = Math.max(turnaroundMs, this.slowestMs * memory);
    this.add(true);
  }

  /** Call it when a poll saw the end of a job that was submitted at `submittedAt`. */
  polled(key: string, submittedAt: number): void {
    if (this.polledEnds.has(key)) return;
    const wait = this.scheduler.schedule(() => {
      this.polledEnds.delete(key);
      this.add(false);
    }, graceMs);
    this.polledEnds.set(key, { wait, submittedAt });
  }

  /** Call it when a callback arrives about a job that has ended: if a poll saw the end just before, the callback was on its way. */
  cameAfterEnd(key: string): void {
    const polled = this.polledEnds.get(key);
    if (polled !== undefined) this.came(key, this.scheduler.now() - polled.submittedAt);
  }

  /** Whether a poll has seen the end of a job whose callback may still be on its way. */
  get isUndecided(): boolean {
    return this.polledEnds.size > 0;
  }

  private add(isCalled: boolean): void {
    this.ends.push(isCalled);
    if (this.ends.length > window) this.ends.shift();
    const called = this.ends.filter(Boolean).length;
    const state = called * 2 >= this.ends.length ? 'coming' : 'missing';
    if (state !== this.state$.value) this.state$.next(state);
  }
}
