import {
  concat,
  concatMap,
  Observable,
  of,
  take,
  type Observer,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import type { Failed, Outcome } from '../../contract/outcome.js';
import { isTerminal, type JobReply } from '../../contract/service-replies.js';
import type { PollJob, PollSchedule } from '../../policy/polling/poll-schedule.js';
import { callAt } from '../deadline.js';
import type { ClientContext, WaitingEvent } from './exchange.js';
import { outcomeOf, statusEvent, whatWasAsked, type StatusEvent } from './outcome-of.js';
import { pollOnce, type Polled, type PollQuestion } from './ask-until-answered.js';

export interface PollTask
  extends Omit<PollJob, 'jobId'>, Omit<PollQuestion, Exclude<keyof PollJob, 'jobId'>> {
  readonly schedule: PollSchedule;
  /** A first poll at once: for a job that nobody has asked for in a while. */
  readonly atOnce: boolean;
  /** The last status of the job: a reply with the same status is no event. */
  readonly last?: StatusEvent | undefined;
}

export type PollStep =
  WaitingEvent | StatusEvent | { readonly type: 'ended'; readonly outcome: Outcome<unknown> };

/** Where the polls end although the job has not. */
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
 * again without limit; a state that is not known is not terminal. Asks for ever where it has no bound.
 *
 * A job is given up when the service no longer knows it (404), refuses the key time and again, fails TLS
 * verification or redirects elsewhere; then it may have been paid.
 */
export function pollUntilTerminal(
  task: PollTask,
  context: ClientContext,
  bound?: PollBound,
): Observable<PollStep> {
  return new Observable((subscriber) => new Polls(task, context, subscriber).begin(bound));
}

/**
 * The polls of one subscription: `exhaustMap` over the poll times, which notifies the schedule between two polls and does
 * not complete with the times. With rxjs' own operators for this and for the deadline a job takes 1.4 times the CPU.
 */
class Polls implements Observer<Polled> {
  private last: StatusEvent | undefined;
  private isAsking = false;
  /** The reply of the poll that is on, about a job that has not ended. */
  private alive: JobReply | undefined;
  private times: Subscription | undefined;
  private polling: Subscription | undefined;

  constructor(
    private readonly task: PollTask,
    private readonly context: ClientContext,
    private readonly subscriber: Subscriber<PollStep>,
  ) {
    this.last = task.last;
  }

  begin(bound: PollBound | undefined): void {
    const { task, subscriber } = this;
    const { scheduler } = this.context;
    if (bound !== undefined && bound.at <= scheduler.now()) return this.giveUp(bound);
    const times = { next: () => this.poll(), error: (error: unknown) => subscriber.error(error) };
    this.times = task.schedule.pollTimes(task).subscribe(times);
    subscriber.add(this.times);
    if (task.atOnce) this.poll();
    if (bound !== undefined && !subscriber.closed)
      subscriber.add(callAt(bound.at, scheduler, () => this.giveUp(bound)));
  }

  next(step: Polled): void {
    try {
      if (step.type !== 'replied') this.emit(step);
      else this.replied(step.job);
    } catch (error) {
      this.error(error);
    }
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }

  /** The next time brings another poll. */
  complete(): void {}

  private poll(): void {
    if (this.isAsking) return;
    this.isAsking = true;
    this.alive = undefined;
    const polling = pollOnce(this.task, this.context).subscribe(this);
    this.polling = polling;
    this.subscriber.add(polling);
    // The schedule is notified when the poll is over: a time that it gives in return is not one that falls into the poll.
    polling.add(() => {
      this.isAsking = false;
      if (this.alive !== undefined) this.observe(this.alive);
    });
  }

  private replied(job: JobReply): void {
    if (isTerminal(job.status)) {
      this.observe(job);
      this.emit({ type: 'ended', outcome: outcomeOf(job, this.task.request) });
      return;
    }
    const before = this.last;
    this.last = statusEvent(job);
    if (before === undefined || !isSame(before, this.last)) this.emit(this.last);
    this.alive = job;
  }

  private observe(job: JobReply): void {
    this.task.schedule.observe(this.task.key, job, this.context.scheduler.now());
  }

  private giveUp({ otherwise }: PollBound): void {
    this.times?.unsubscribe();
    this.polling?.unsubscribe();
    try {
      otherwise().subscribe(this.subscriber);
    } catch (error) {
      this.error(error);
    }
  }

  private emit(step: PollStep): void {
    this.subscriber.next(step);
    if (step.type === 'ended') this.subscriber.complete();
  }
}

export interface Due {
  /** In ms since the epoch, by the scheduler. */
  readonly at: number;
  /** The deadline of the call in ms, for the message. */
  readonly deadlineMs: number;
}

/**
 * Polls until the job has ended or the deadline has come; then the job may still run. A job that was not asked for once
 * by then is, all the same: it may have ended long ago.
 */
export function pollToDeadline(task: PollTask, due: Due, context: ClientContext): Observable<PollStep> {
  let wasAsked = false;
  const onCall = () => {
    wasAsked = true;
    task.onCall();
  };
  const otherwise = () => {
    const givenUp = of<PollStep>({ type: 'ended', outcome: overdue(task, due) });
    return wasAsked ? givenUp : concat(lastLook(task, context), givenUp).pipe(take(1));
  };
  return pollUntilTerminal({ ...task, onCall }, context, { at: due.at, otherwise });
}

function lastLook(task: PollTask, context: ClientContext): Observable<PollStep> {
  return pollOnce(task, context).pipe(
    take(1),
    concatMap((polled): PollStep[] => {
      if (polled.type === 'ended') return [polled];
      if (polled.type === 'waiting' || !isTerminal(polled.job.status)) return [];
      return [{ type: 'ended', outcome: outcomeOf(polled.job, task.request) }];
    }),
  );
}

/** The failure of a job that has not ended by its deadline. */
export function overdue(
  { jobId, request }: { readonly jobId: string; readonly request: Parameters<typeof whatWasAsked>[0] },
  { deadlineMs }: Pick<Due, 'deadlineMs'>,
): Failed {
  const message = `${whatWasAsked(request)}: no end within ${deadlineMs} ms; the job may still run`;
  return { status: 'failed', code: 'deadline', paid: 'maybe', jobId, message };
}

function isSame(one: StatusEvent, other: StatusEvent): boolean {
  if (one.status !== other.status || one.delayTimeMs !== other.delayTimeMs) return false;
  return one.partial === other.partial || JSON.stringify(one.partial) === JSON.stringify(other.partial);
}
