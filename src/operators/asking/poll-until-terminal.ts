import { Observable } from 'rxjs';
import type { JobReply } from '../../contract/job-reply.js';
import { isTerminal } from '../../contract/job-state.js';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import type { PollJob, PollSchedule } from '../../policy/poll-schedule.js';
import type { Desk } from './exchange.js';
import { outcomeOf } from './outcome-of.js';
import { pollOnce, type Polled, type PollQuestion } from './poll-once.js';
import type { WaitingEvent } from './through-gate.js';

export interface PollTask extends PollQuestion, PollJob {
  readonly schedule: PollSchedule;
  /** A first poll at once: for a job that nobody has asked for in a while. */
  readonly atOnce: boolean;
  /** What was last heard of the job: a reply that says the same is no event. */
  readonly last?: StatusEvent | undefined;
}

export type StatusEvent = Extract<JobEvent<never>, { type: 'status' }>;
export type PollStep =
  WaitingEvent | StatusEvent | { readonly type: 'ended'; readonly outcome: Outcome<unknown> };

/**
 * Asks at the times of the schedule until the job has ended, then emits `ended` and completes. Emits each change of
 * state, of the time in the queue and of the partial output. Polls never overlap: times that fall into a poll, or into
 * the waits between its tries, pass unused. Faults of the way, busy services and replies about another job are asked
 * again without limit; a state that is not known is not terminal. Asks for ever: bound it with `deadline`.
 *
 * A job is given up when the service no longer knows it (404), refuses the key time and again, or is not whom it should
 * be; then it may have been paid.
 */
export function pollUntilTerminal(task: PollTask, desk: Desk): Observable<PollStep> {
  return new Observable((subscriber) => {
    const { schedule } = task;
    let { last } = task;
    let isAsking = false;
    const fail = (error: unknown): void => subscriber.error(error);
    const observe = (job: JobReply): void => schedule.observe(task.key, job, desk.scheduler.now());

    function end(step: PollStep): void {
      subscriber.next(step);
      subscriber.complete();
    }

    /** True while the job has not ended. */
    function hear(job: JobReply): boolean {
      if (isTerminal(job.status)) {
        observe(job);
        end({ type: 'ended', outcome: outcomeOf(job, task.request) });
        return false;
      }
      const before = last;
      last = statusEvent(job);
      if (before === undefined || !isSame(before, last)) subscriber.next(last);
      return true;
    }

    function poll(): void {
      if (isAsking) return;
      isAsking = true;
      let alive: JobReply | undefined;
      const next = (step: Polled): void => {
        try {
          if (step.type === 'waiting') subscriber.next(step);
          else if (step.type === 'ended') end(step);
          else if (hear(step.job)) alive = step.job;
        } catch (error) {
          fail(error);
        }
      };
      const asked = pollOnce(task, desk).subscribe({ next, error: fail });
      subscriber.add(asked);
      // Told when the poll is over, so that a time given in return is not taken for one that falls into it.
      asked.add(() => {
        isAsking = false;
        if (alive !== undefined) observe(alive);
      });
    }

    subscriber.add(schedule.pollTimes(task).subscribe({ next: poll, error: fail }));
    if (task.atOnce) poll();
  });
}

/** What a reply of a job that has not ended says. */
export function statusEvent({ status, delayTime, output }: JobReply): StatusEvent {
  return {
    type: 'status',
    status,
    ...(delayTime !== undefined && { delayTimeMs: delayTime }),
    ...(output !== undefined && { partial: output }),
  };
}

function isSame(one: StatusEvent, other: StatusEvent): boolean {
  if (one.status !== other.status || one.delayTimeMs !== other.delayTimeMs) return false;
  return one.partial === other.partial || JSON.stringify(one.partial) === JSON.stringify(other.partial);
}
