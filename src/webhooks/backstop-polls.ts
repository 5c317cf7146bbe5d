import { Observable, type Subscriber, type Subscription, BehaviorSubject, type SchedulerLike } from 'rxjs';
import { isTerminal, type JobReply } from '../contract/service-replies.js';
import { clampTimer, type LateClock } from '../policy/client-clock.js';
import type { PollJob, PollSchedule } from '../policy/polling/poll-schedule.js';

/** While callbacks come, a job is first polled after this many times the slowest turnaround of late, within these bounds. */
const patience = { turnarounds: 3, leastMs: 5_000, mostMs: 600_000 };
/** The same before it is known whether they come. */
const hopefulMs = 60_000;

interface WatchedJob {
  readonly job: PollJob;
  readonly subscriber: Subscriber<void>;
  /** Its polls as they are now. */
  polls: Subscription | undefined;
  /** Polls so far that were for want of a callback. */
  asked: number;
}

/**
 * Polls as a backstop: by the given schedule where callbacks do not come, rarely while they do. Before it is known, one job at a time
 * is polled by the schedule, so that callbacks that never come are found out; once a poll has seen the end of one, none is until it is known.
 */
export class BackstopPolls implements PollSchedule {
  private readonly jobs = new Set<WatchedJob>();
  private readonly byKey = new Map<string, WatchedJob>();
  /** Jobs whose callback has come: their end is no callback that is missing. */
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

  /** The callback of a job has come: how long after its submission, in ms; `undefined` where it is not polled. */
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

/** Whether callbacks come: `hoped` before any job has ended. */
type CallbackState = 'hoped' | 'coming' | 'missing';

/** So many ends are looked at. */
const window = 20;
/** A callback that is later than its poll by no more than this was on its way. */
const graceMs = 2_000;
/** How much of the slowest turnaround is kept at each job. */
const memory = 0.98;

/** Finds out whether the service calls back, by the ends of jobs: of each, whether a callback named it or only a poll. */
export class CallbackHealth {
  readonly state$ = new BehaviorSubject<CallbackState>('hoped');
  /** From a submission to its callback, about the longest of late in ms; 0: none has come. */
  slowestMs = 0;
  private readonly ends: boolean[] = [];
  /** Jobs whose end a poll has seen, and whose callback may be on its way. */
  private readonly polledEnds = new Map<
    string,
    { readonly wait: Subscription; readonly submittedAt: number }
  >();

  constructor(private readonly scheduler: SchedulerLike) {}

  /** A callback came about a job that was submitted `turnaroundMs` ago. */
  came(key: string, turnaroundMs: number): void {
    this.polledEnds.get(key)?.wait.unsubscribe();
    this.polledEnds.delete(key);
    this.slowestMs = Math.max(turnaroundMs, this.slowestMs * memory);
    this.add(true);
  }

  /** A poll saw the end of a job that was submitted at `submittedAt`. */
  polled(key: string, submittedAt: number): void {
    if (this.polledEnds.has(key)) return;
    const wait = this.scheduler.schedule(() => {
      this.polledEnds.delete(key);
      this.add(false);
    }, graceMs);
    this.polledEnds.set(key, { wait, submittedAt });
  }

  /** A callback came about a job that has ended: where a poll has just seen that, it was on its way. */
  cameAfterEnd(key: string): void {
    const polled = this.polledEnds.get(key);
    if (polled !== undefined) this.came(key, this.scheduler.now() - polled.submittedAt);
  }

  /** A poll has seen the end of a job, and its callback may be on its way. */
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
