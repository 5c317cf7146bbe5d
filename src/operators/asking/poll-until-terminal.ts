import {
  concat,
  concatMap,
  defer,
  exhaustMap,
  finalize,
  merge,
  NEVER,
  of,
  takeWhile,
  type Observable,
} from 'rxjs';
import type { JobReply } from '../../contract/job-reply.js';
import { isTerminal } from '../../contract/job-state.js';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import type { PollJob, PollSchedule } from '../../policy/poll-schedule.js';
import type { Desk } from './exchange.js';
import { outcomeOf } from './outcome-of.js';
import { pollOnce, type PollQuestion } from './poll-once.js';
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
  return defer(() => {
    const { schedule, key, atOnce } = task;
    const observe = (job: JobReply) => schedule.observe(key, job, desk.scheduler.now());
    const times = concat(schedule.pollTimes(task), NEVER);
    let last = task.last;
    const poll = () => {
      let alive: JobReply | undefined;
      return pollOnce(task, desk).pipe(
        concatMap((step): PollStep[] => {
          if (step.type !== 'replied') return [step];
          if (isTerminal(step.job.status)) {
            observe(step.job);
            return [{ type: 'ended', outcome: outcomeOf(step.job, task.request) }];
          }
          alive = step.job;
          const before = last;
          last = statusEvent(step.job);
          return before !== undefined && isSame(before, last) ? [] : [last];
        }),
        // Told when the poll is over, so that a time given in return is not taken for one that falls into it.
        finalize(() => {
          if (alive !== undefined) observe(alive);
        }),
      );
    };
    return (atOnce ? merge(times, of(undefined)) : times).pipe(
      exhaustMap(poll),
      takeWhile((step) => step.type !== 'ended', true),
    );
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
