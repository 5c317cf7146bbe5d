import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { isTerminal } from '../contract/job-state.js';
import type { JobReply } from '../contract/job-reply.js';
import { createLane, type Lane, type LaneTicket } from './learning/lane.js';
import { planPolls, type PollPlan } from './learning/plan-polls.js';
import { createRunTimeLaw, type KeptLaw, type RunTimeLaw } from './learning/run-time-law.js';
import type { PollJob, PollSchedule } from './poll-schedule.js';

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

interface Learned {
  readonly law: RunTimeLaw;
  plan: PollPlan;
  /** Ends seen since the plan was made. */
  news: number;
  plannedAt: number;
}

/** A law is planned anew when this share of its samples is new, and not more often than this. */
const replan = { share: 0.06, everyMs: 100 };

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
  const laws = new Map<string, Learned>();
  const tickets = new Map<string, { ticket: LaneTicket; job: PollJob }>();

  const nameOf = (job: PollJob) => `${job.endpoint ?? ''} ${job.variant ?? ''}`.trim();
  const learnedOf = (name: string) => {
    const known = laws.get(name);
    if (known !== undefined) return known;
    const law = createRunTimeLaw(kept[name]);
    const fresh = { law, plan: planPolls(law.massGiven([]), msPerCall), news: 0, plannedAt: 0 };
    laws.set(name, fresh);
    return fresh;
  };
  const laneOf = (job: PollJob) => {
    const name = job.endpoint ?? '';
    const lane = lanes.get(name) ?? createLane((variant) => learnedOf(variant).plan, scheduler);
    lanes.set(name, lane);
    return lane;
  };

  const learn = (endpoint: string, name: string, runTimeMs: number) => {
    const learnt = learnedOf(name);
    const before = learnt.law.samples;
    learnt.law.observe(runTimeMs);
    learnt.news += 1;
    const changed = learnt.law.samples < before;
    const now = scheduler.now();
    const enough =
      learnt.news >= replan.share * learnt.law.samples && now - learnt.plannedAt >= replan.everyMs;
    if (!changed && !enough) return;
    learnt.plan = planPolls(learnt.law.massGiven(lanes.get(endpoint)?.runningAges(name) ?? []), msPerCall);
    learnt.news = 0;
    learnt.plannedAt = now;
    if (changed) lanes.get(endpoint)?.rearm();
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
      const times = timesOf(job, reply);
      const ended = isTerminal(reply.status);
      const state = ended ? 'ended' : reply.status === 'IN_QUEUE' ? 'waiting' : 'working';
      const believedMs = ticket.reply({ at, state, ...times.marks });
      if (ended) learn(job.endpoint ?? '', nameOf(job), times.runTimeMs ?? believedMs);
    },
    keep: () => Object.fromEntries([...laws].map(([name, { law }]) => [name, law.keep()])),
  };
}

function timesOf(job: PollJob, reply: JobReply) {
  const { delayTime, executionTime } = reply;
  const startedAt = delayTime === undefined ? undefined : job.submittedAt + delayTime;
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
