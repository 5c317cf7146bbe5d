import { Observable, type SchedulerLike } from 'rxjs';
import { checkNames, checkNumber } from '../../contract/check-option.js';
import { isTerminal, type JobReply } from '../../contract/service-replies.js';
import { lateClock } from '../late-clock.js';
import { EndpointModel, type JobTicket } from './endpoint-model.js';
import { createPlannedVariants } from './planned-variants.js';
import type { KeptRunTimes } from './run-time-distribution.js';
import type { PollJob, PollSchedule } from './poll-schedule.js';

/** Options of `pollLearned`. */
export interface LearnedOptions {
  /**
   * What one status call is worth, in ms of lag: a larger number means fewer calls and more lag.
   * @defaultValue 190
   */
  msPerCall?: number;
  /** What an earlier start learned, by `endpoint variant`. */
  kept?: Readonly<Record<string, KeptRunTimes>>;
}

export interface LearnedSchedule extends PollSchedule {
  /** What was learned so far, to be given to the next start as `kept`. */
  keep(): Record<string, KeptRunTimes>;
}

/**
 * Polls when a job has probably ended. It learns the run-time distribution of each endpoint and variant from the
 * executionTime of every result, and from delayTime how the jobs of an endpoint wait for each other.
 */
export function pollLearned(options: LearnedOptions = {}, given?: SchedulerLike): LearnedSchedule {
  checkNames(options, 'pollLearned', ['msPerCall', 'kept']);
  const clock = lateClock({ ...(given !== undefined && { scheduler: given }) });
  const { scheduler } = clock;
  const { msPerCall = 190, kept = {} } = options;
  checkNumber('msPerCall', msPerCall, 'number from 0 on');
  const models = new Map<string, EndpointModel>();
  const variants = createPlannedVariants(msPerCall, kept);
  const tickets = new Map<string, JobOfKey[]>();

  const nameOf = (job: PollJob) => `${job.endpoint ?? ''} ${job.variant ?? ''}`.trim();
  const modelOf = (job: PollJob) => {
    const name = job.endpoint ?? '';
    const model = models.get(name) ?? new EndpointModel((variant) => variants.planOf(variant), scheduler);
    models.set(name, model);
    return model;
  };

  return {
    pollTimes: (job) =>
      new Observable<void>((subscriber) => {
        const ticket = modelOf(job).add({
          variant: nameOf(job),
          submittedAt: job.submittedAt,
          poll: () => {
            mine.isAsked = true;
            subscriber.next();
          },
        });
        const mine: JobOfKey = { ticket, job, isAsked: false };
        tickets.set(job.key, [...(tickets.get(job.key) ?? []), mine]);
        return () => {
          const others = tickets.get(job.key)?.filter((one) => one !== mine) ?? [];
          if (others.length === 0) tickets.delete(job.key);
          else tickets.set(job.key, others);
          ticket.leave();
        };
      }),
    observe(key, reply, at) {
      const found = meantBy(reply, tickets.get(key) ?? []);
      if (found === undefined) return;
      found.isAsked = false;
      const { ticket, job } = found;
      const times = timesOf(job, reply, at);
      const ended = isTerminal(reply.status);
      const state = ended ? 'ended' : reply.status === 'IN_QUEUE' ? 'waiting' : 'working';
      const believedMs = ticket.reply({ at, state, ...times.known });
      if (!ended) return;
      const model = modelOf(job);
      const runTimeMs = times.runTimeMs ?? believedMs;
      const running = () => model.runningAges(nameOf(job));
      if (variants.observe(nameOf(job), { runTimeMs, at: scheduler.now(), running })) model.rearm();
    },
    keep: () => variants.keep(),
    useClock: (used) => clock.use(used),
  };
}

interface JobOfKey {
  readonly ticket: JobTicket;
  readonly job: PollJob;
  /** It has been given a time, and no reply since. */
  isAsked: boolean;
}

/** The job of a reply among those of one key; of two that poll one job, the one that waits for a reply. */
function meantBy({ id }: JobReply, jobs: readonly JobOfKey[]): JobOfKey | undefined {
  if (jobs.length < 2) return jobs[0];
  const own = jobs.filter(({ job }) => job.jobId === undefined || job.jobId === id);
  return own.find(({ isAsked }) => isAsked) ?? own[0];
}

function timesOf(job: PollJob, reply: JobReply, at: number) {
  const { delayTime, executionTime } = reply;
  // A running job has started, whatever the service's clock shows: a later time would put off its next poll.
  const startedAt = delayTime === undefined ? undefined : Math.min(job.submittedAt + delayTime, at);
  const endedAt =
    startedAt === undefined || executionTime === undefined ? undefined : startedAt + executionTime;
  return {
    runTimeMs: executionTime,
    known: {
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
    },
  };
}
