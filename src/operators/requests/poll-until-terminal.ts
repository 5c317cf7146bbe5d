import { Observable, type Subscriber, type Subscription } from 'rxjs';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { isTerminal, type JobReply } from '../../contract/service-replies.js';
import type { PollJob, PollSchedule } from '../../policy/polling/poll-schedule.js';
import type { Desk } from './exchange.js';
import { outcomeOf } from './outcome-of.js';
import { pollOnce, type Polled, type PollQuestion } from './poll-once.js';
import type { WaitingEvent } from './through-gate.js';

export interface PollTask extends PollJob, Omit<PollQuestion, keyof PollJob> {
  readonly schedule: PollSchedule;
  /** A first poll at once: for a job that nobody has asked for in a while. */
  readonly atOnce: boolean;
  /** What was last heard of the job: a reply that says the same is no event. */
  readonly last?: StatusEvent | undefined;
}

export type StatusEvent = Extract<JobEvent<never>, { type: 'status' }>;
export type PollStep =
  WaitingEvent | StatusEvent | { readonly type: 'ended'; readonly outcome: Outcome<unknown> };

/** Where it ends although the job has not. */
export interface PollBound {
  /** In ms since the epoch, by the scheduler. With a time that is past nothing is asked. */
  readonly at: number;
  /** What follows then. */
  readonly otherwise: () => Observable<PollStep>;
}

/**
 * Asks at the times of the schedule until the job has ended, then emits `ended` and completes. Emits each change of
 * state, of the time in the queue and of the partial output. Polls never overlap: times that fall into a poll, or into
 * the waits between its tries, pass unused. Faults of the way, busy services and replies about another job are asked
 * again without limit; a state that is not known is not terminal. Asks for ever where it is not bounded.
 *
 * A job is given up when the service no longer knows it (404), refuses the key time and again, or is not whom it should
 * be; then it may have been paid.
 */
export function pollUntilTerminal(task: PollTask, desk: Desk, bound?: PollBound): Observable<PollStep> {
  return new Observable((subscriber) => new Polls(task, desk, subscriber).begin(bound));
}

/** The polls of one subscription. It hears both the times of the schedule and what comes of each poll. */
class Polls {
  private last: StatusEvent | undefined;
  private isAsking = false;
  private times: Subscription | undefined;
  private asked: Subscription | undefined;
  /** What the poll that is on has told of a job that has not ended. */
  private alive: JobReply | undefined;

  constructor(
    private readonly task: PollTask,
    private readonly desk: Desk,
    private readonly subscriber: Subscriber<PollStep>,
  ) {
    this.last = task.last;
  }

  begin(bound: PollBound | undefined): void {
    const { task, desk, subscriber } = this;
    if (bound !== undefined && bound.at <= desk.scheduler.now()) return this.giveUp(bound);
    const poll = { next: () => this.poll(), error: (error: unknown) => this.error(error) };
    this.times = task.schedule.pollTimes(task).subscribe(poll);
    subscriber.add(this.times);
    if (task.atOnce) this.poll();
    if (bound !== undefined && !subscriber.closed)
      subscriber.add(desk.deadlines.callAt(bound.at, () => this.giveUp(bound)));
  }

  next(step: Polled): void {
    try {
      if (step.type === 'waiting') this.subscriber.next(step);
      else if (step.type === 'ended') this.end(step);
      else this.hear(step.job);
    } catch (error) {
      this.error(error);
    }
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }

  private poll(): void {
    if (this.isAsking) return;
    this.isAsking = true;
    this.alive = undefined;
    const asked = pollOnce(this.task, this.desk).subscribe(this);
    this.asked = asked;
    this.subscriber.add(asked);
    // Told when the poll is over, so that a time given in return is not taken for one that falls into it.
    asked.add(() => {
      this.isAsking = false;
      if (this.alive !== undefined) this.observe(this.alive);
    });
  }

  private hear(job: JobReply): void {
    if (isTerminal(job.status)) {
      this.observe(job);
      this.end({ type: 'ended', outcome: outcomeOf(job, this.task.request) });
      return;
    }
    const before = this.last;
    this.last = statusEvent(job);
    if (before === undefined || !isSame(before, this.last)) this.subscriber.next(this.last);
    this.alive = job;
  }

  private observe(job: JobReply): void {
    this.task.schedule.observe(this.task.key, job, this.desk.scheduler.now());
  }

  private giveUp({ otherwise }: PollBound): void {
    this.times?.unsubscribe();
    this.asked?.unsubscribe();
    try {
      otherwise().subscribe(this.subscriber);
    } catch (error) {
      this.error(error);
    }
  }

  private end(step: PollStep): void {
    this.subscriber.next(step);
    this.subscriber.complete();
  }
}

/** What a reply of a job that has not ended says. */
export function statusEvent({ status, delayTime, output }: JobReply): StatusEvent {
  const event: StatusEvent = { type: 'status', status };
  if (delayTime !== undefined) event.delayTimeMs = delayTime;
  if (output !== undefined) event.partial = output;
  return event;
}

function isSame(one: StatusEvent, other: StatusEvent): boolean {
  if (one.status !== other.status || one.delayTimeMs !== other.delayTimeMs) return false;
  return one.partial === other.partial || JSON.stringify(one.partial) === JSON.stringify(other.partial);
}
