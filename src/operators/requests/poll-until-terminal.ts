import { from, interval, Observable, type Observer, type Subscriber, type Subscription } from 'rxjs';
import { isTerminal, knownState, type Failed, type Outcome } from '../../contract/outcome.js';
import type { JobReply } from '../../contract/service-replies.js';
import type { PollJob, PollSchedule } from '../../policy/polling/poll-schedule.js';
import type { Due } from '../../policy/due-queue.js';
import { callHook, reportUnhandled } from '../../policy/guard-hooks.js';
import { OneTeardown } from '../../policy/one-teardown.js';
import type { ClientContext, QueuedPoll, RequestSlot, RunningPolls, WaitingEvent } from './exchange.js';
import { outcomeOf, statusEvent, whatWasAsked, type StatusEvent } from './outcome-of.js';
import { pollOnce, type Polled, type PollQuestion, type PollWatch } from './ask-until-answered.js';

export interface PollTask
  extends
    Omit<PollJob, 'jobId'>,
    Omit<PollQuestion, Exclude<keyof PollJob, 'jobId'>>,
    Pick<PollWatch, 'onCall'> {
  readonly schedule: PollSchedule;
  /** Whether to poll at once, for a job that was not polled for a while. */
  readonly atOnce: boolean;
  /** The last status of the job. A reply with the same status is not emitted. */
  readonly last?: StatusEvent | undefined;
  /** Called when polling begins. */
  begun?(polls: RunningPolls): void;
}

export type PollStep =
  WaitingEvent | StatusEvent | { readonly type: 'ended'; readonly outcome: Outcome<unknown> };

interface Deadline {
  /** In ms since the epoch, by the scheduler. If it is past, the job is still polled once. */
  readonly at: number;
  /** The deadline of the call in ms, for the message. */
  readonly deadlineMs: number;
}

/**
 * Polls at the times of the schedule until the job has ended, then emits `ended` and completes. Emits each change of the
 * state, of the time in the queue and of the partial output. Polls never overlap: times during a poll, or during the
 * waits between its tries, are skipped. Network faults, busy services and replies about another job are retried without
 * limit; an unknown state is not terminal. A job is given up when the service no longer knows it (404), repeatedly refuses
 * the key, fails TLS verification or redirects elsewhere; then it may have been paid. The same is true at the deadline; if no
 * poll was answered by then, one is awaited, however long the gate takes and for as long as its request may take, because the
 * job may have ended long ago.
 * So it may if the process or the computer stood still beyond the deadline: then the job is polled for half a minute more.
 * An error of the schedule is reported and loses no purchase: once its times have failed or completed, the job is polled every 5 s.
 */
export function pollUntilTerminal(
  task: PollTask,
  deadline: Deadline,
  context: ClientContext,
): Observable<PollStep> {
  return new Observable((subscriber) =>
    new Polls(task, deadline.deadlineMs, context, subscriber).begin(deadline.at),
  );
}

/**
 * The polls of one subscription: like `exhaustMap` over the poll times, but it notifies the schedule between two polls and does
 * not complete with the times. With rxjs' operators for this and for the deadline a job takes 1.4 times the CPU. The class
 * subscribes to the times and waits for the deadline itself, because most jobs in flight have one.
 */
class Polls extends OneTeardown implements Observer<void>, Due, PollWatch, QueuedPoll, RunningPolls {
  dueAt = 0;
  place = -1;
  private last: StatusEvent | undefined;
  /** Why the last poll brought no reply about the job; `undefined` if it brought one. */
  private fault: string | undefined;
  private wasSent = false;
  /** A request has ended, by a reply or a fault. */
  private wasAnswered = false;
  /** The deadline has passed, and the current poll decides. */
  private isLast = false;
  private polling: Subscription | undefined;
  private isQueued = false;
  /** The times of the schedule have failed or completed. */
  private isOnFallback = false;
  behind: QueuedPoll | undefined;

  constructor(
    private readonly task: PollTask,
    private readonly deadlineMs: number,
    private readonly context: ClientContext,
    private readonly subscriber: Subscriber<PollStep>,
  ) {
    super();
    this.last = task.last;
  }

  /** @param at the deadline, in ms since the epoch */
  begin(at: number): void {
    const { task, context, subscriber } = this;
    subscriber.add(this);
    if (at <= context.scheduler.now()) return this.due();
    task.begun?.(this);
    const { key, jobId, submittedAt, endpoint, variant, sync } = task;
    try {
      from(task.schedule.pollTimes({ key, jobId, submittedAt, endpoint, variant, sync })).subscribe(this);
    } catch (error) {
      this.error(error);
    }
    if (task.atOnce) this.poll();
    if (!this.closed) context.deadlines.set(this, at);
  }

  /** Called at a time of the schedule. */
  next(): void {
    if (!this.isOnFallback) this.poll();
  }

  /** Called when the times have failed. */
  error(error: unknown): void {
    if (this.isOnFallback || this.closed) return;
    reportUnhandled(error);
    this.complete();
  }

  /** Called when the times have ended; the job has not. */
  complete(): void {
    if (this.isOnFallback || this.closed) return;
    this.isOnFallback = true;
    this.add(interval(fallbackPollMs, this.context.scheduler).subscribe(() => this.poll()));
  }

  poll(): void {
    if (this.isQueued || this.polling !== undefined || this.closed) return;
    const { slots } = this.context;
    this.isQueued = true;
    if (slots === undefined) this.slotTaken(undefined);
    else slots.queue(this);
  }

  /** The poll is created only now, because thousands may wait for a slot, and each would take 3 kB more. */
  slotTaken(slot: RequestSlot | undefined): void {
    this.isQueued = false;
    const poll = new Poll(this);
    this.polling = poll;
    pollOnce(this.task, this.context, this, slot).subscribe(poll);
  }

  fail(error: unknown): void {
    this.subscriber.error(error);
  }

  /** Called at the deadline. A poll that still waits at the gate keeps its place there, and has a time limit once it is sent. */
  due(): void {
    try {
      const now = this.context.scheduler.now();
      const isSleptThrough = now - this.dueAt > lateMs;
      if (this.isLast) {
        // Timers are called before an answer is read that arrived meanwhile.
        if (isSleptThrough) return this.limitLast();
        this.fault = `no answer within ${this.task.request.timeouts.requestMs} ms`;
        return this.giveUp();
      }
      if (this.wasAnswered && isSleptThrough) {
        this.wasAnswered = this.wasSent = false;
        this.context.deadlines.set(this, now + graceMs);
        return this.poll();
      }
      if (this.wasAnswered) return this.giveUp();
      this.isLast = true;
      if (this.wasSent) this.limitLast();
      this.poll();
    } catch (error) {
      this.fail(error);
    }
  }

  /** A transport need not keep the time limits of its request. */
  private limitLast(): void {
    const { deadlines, scheduler } = this.context;
    deadlines.set(this, scheduler.now() + this.task.request.timeouts.requestMs);
  }

  private giveUp(): void {
    callHook(() => this.unsubscribe());
    this.emit({ type: 'ended', outcome: overdue(this.task, this.deadlineMs, this.lastPoll()) });
  }

  /** What the last poll said, unless it is what a job says that still runs. */
  private lastPoll(): string | undefined {
    if (this.fault !== undefined) return `the last poll failed: ${this.fault}`;
    const { status } = this.last ?? {};
    if (status === undefined || knownState(status) !== undefined) return undefined;
    return `its last state is not known: ${JSON.stringify(status.slice(0, statusShown))}`;
  }

  /** Completes the stream although the job has not ended. */
  end(): void {
    this.subscriber.complete();
  }

  override unsubscribe(): void {
    if (this.closed) return;
    this.context.deadlines.remove(this);
    try {
      super.unsubscribe();
    } finally {
      this.polling?.unsubscribe();
    }
  }

  take(step: Polled): void {
    this.wasAnswered = this.wasSent;
    if (step.type === 'ended') return this.emit(step);
    const isLate = this.isLast && this.wasAnswered;
    if (step.type !== 'replied') return isLate ? this.giveUp() : this.emit(step);
    const { job } = step;
    if (isTerminal(job.status)) {
      this.observe(job);
      return this.emit({ type: 'ended', outcome: outcomeOf(job, this.task.request) });
    }
    const { last } = this;
    const status = statusEvent(job);
    const isNew = last === undefined || !isSame(last, status);
    // The one that was emitted is kept anyway.
    if (isNew) this.last = status;
    this.fault = undefined;
    if (isLate) this.giveUp();
    else if (isNew) this.emit(status);
  }

  /** Notifies the schedule after the poll, so that a time that it emits in response is not skipped. */
  over(alive: JobReply | undefined): void {
    this.polling = undefined;
    if (alive !== undefined) this.observe(alive);
  }

  private observe(job: JobReply): void {
    const { task, context } = this;
    callHook(() => task.schedule.observe(task.key, job, context.scheduler.now()));
  }

  private emit(step: PollStep): void {
    this.subscriber.next(step);
    if (step.type === 'ended') this.subscriber.complete();
  }

  onCall(): void {
    this.wasSent = true;
    if (this.isLast) this.limitLast();
    this.task.onCall();
  }

  onFault(message: string): void {
    this.fault = message;
  }
}

/** One poll, until there is a reply about the job. */
class Poll extends OneTeardown implements Observer<Polled> {
  /** The reply, if the job has not ended. */
  private alive: JobReply | undefined;

  constructor(private readonly polls: Polls) {
    super();
  }

  next(step: Polled): void {
    if (this.closed) return;
    try {
      this.polls.take(step);
      if (step.type === 'replied' && !isTerminal(step.job.status)) this.alive = step.job;
    } catch (error) {
      this.error(error);
    }
  }

  error(error: unknown): void {
    if (!this.closed) this.polls.fail(error);
  }

  complete(): void {
    this.unsubscribe();
  }

  override unsubscribe(): void {
    if (this.closed) return;
    try {
      super.unsubscribe();
    } finally {
      this.polls.over(this.alive);
    }
  }
}

/** The time between polls of a job whose schedule has failed or completed. */
const fallbackPollMs = 5_000;
const statusShown = 60;
/** A deadline that is called so much later was slept through. */
const lateMs = 1_000;
/** For the network to come back and for the polls of all jobs that are in flight. */
const graceMs = 30_000;

/** The failure of a job that has not ended by its deadline. */
function overdue({ jobId, request }: PollTask, deadlineMs: number, lastPoll: string | undefined): Failed {
  const late = `${whatWasAsked(request)}: no end within ${deadlineMs} ms; the job may still run`;
  const message = lastPoll === undefined ? late : `${late}; ${lastPoll}`;
  return { status: 'failed', code: 'deadline', paid: 'maybe', jobId, message };
}

function isSame(one: StatusEvent, other: StatusEvent): boolean {
  if (one.status !== other.status || one.delayTimeMs !== other.delayTimeMs) return false;
  return one.partial === other.partial || JSON.stringify(one.partial) === JSON.stringify(other.partial);
}
