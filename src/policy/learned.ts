import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { isTerminal, type JobReply } from '../contract/service-replies.js';
import { createLane, type Lane, type LaneTicket } from './learning/lane.js';
import { createPlannedLaws } from './learning/planned-laws.js';
import type { KeptLaw } from './learning/run-time-law.js';
import type { PollJob, PollSchedule } from './poll-schedule.js';

/** Options of `learned`. */
export interface LearnedOptions {
  /**
   * What one status call is worth, in ms of lag: the one number that trades calls against lag. A larger one asks less.
   * @defaultValue 190
   */
  msPerCall?: number;
  /** What an earlier start learned, by `endpoint variant`. */
  kept?: Readonly<Record<string, KeptLaw>>;
}

export interface LearnedSchedule extends PollSchedule {
  /** What was learned so far, to be given to the next start as `kept`. */
  keep(): Record<string, KeptLaw>;
}

/**
 * Asks when an answer is likely: learns the law of run times of each endpoint and variant from the executionTime that
 * comes with every result, and who waits for whom from delayTime, and chooses the poll times by them.
 */
export function learned(
  options: LearnedOptions = {},
  scheduler: SchedulerLike = asyncScheduler,
): LearnedSchedule {
  const { msPerCall = 190, kept = {} } = options;
  const lanes = new Map<string, Lane>();
  const laws = createPlannedLaws(msPerCall, kept);
  const tickets = new Map<string, { ticket: LaneTicket; job: PollJob }>();

  const nameOf = (job: PollJob) => `${job.endpoint ?? ''} ${job.variant ?? ''}`.trim();
  const laneOf = (job: PollJob) => {
    const name = job.endpoint ?? '';
    const lane = lanes.get(name) ?? createLane((variant) => laws.planOf(variant), scheduler);
    lanes.set(name, lane);
    return lane;
  };

  return {
    pollTimes: (job) =>
      new Observable<void>((subscriber) => {
        const ticket = laneOf(job).add({
          variant: nameOf(job),
          submittedAt: job.submittedAt,
          poll: () => subscriber.next(),
        });
        tickets.set(job.key, { ticket, job });
        return () => {
          if (tickets.get(job.key)?.ticket === ticket) tickets.delete(job.key);
          ticket.leave();
        };
      }),
    observe(key, reply, at) {
      const known = tickets.get(key);
      if (known === undefined) return;
      const { ticket, job } = known;
      const times = timesOf(job, reply, at);
      const ended = isTerminal(reply.status);
      const state = ended ? 'ended' : reply.status === 'IN_QUEUE' ? 'waiting' : 'working';
      const believedMs = ticket.reply({ at, state, ...times.marks });
      if (!ended) return;
      const lane = laneOf(job);
      const runTimeMs = times.runTimeMs ?? believedMs;
      const running = () => lane.runningAges(nameOf(job));
      if (laws.observe(nameOf(job), { runTimeMs, at: scheduler.now(), running })) lane.rearm();
    },
    keep: () => laws.keep(),
  };
}

function timesOf(job: PollJob, reply: JobReply, at: number) {
  const { delayTime, executionTime } = reply;
  // Whatever the service's clock says, what runs has started: else it would not be asked for again in time.
  const startedAt = delayTime === undefined ? undefined : Math.min(job.submittedAt + delayTime, at);
  const endedAt =
    startedAt === undefined || executionTime === undefined ? undefined : startedAt + executionTime;
  return {
    runTimeMs: executionTime,
    marks: {
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
    },
  };
}
