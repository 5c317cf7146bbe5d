import { Observable, type SchedulerLike } from 'rxjs';
import { checkNames, checkNumber } from '../../contract/check-option.js';
import type { JobReply } from '../../contract/service-replies.js';
import { isTerminal } from '../../contract/outcome.js';
import { lateClock } from '../client-clock.js';
import { EndpointModel } from './endpoint-model.js';
import {
  type KeptRunTimes,
  createRunTimeDistribution,
  type RunTimeDistribution,
} from './run-time-distribution.js';
import type { PollJob, PollSchedule } from './poll-schedule.js';
import type { TrackedJob } from './tracked-job.js';
import { planPolls, type PollPlan } from './plan-polls.js';

/** Options of `pollLearned`. */
export interface LearnedOptions {
  /**
   * The price of one status call in ms of lag: a larger number means fewer calls and more lag.
   * @defaultValue 190
   */
  msPerCall?: number | undefined;
  /** Run times that an earlier start learned, by `endpoint variant`. */
  kept?: Readonly<Record<string, KeptRunTimes>> | undefined;
}

export interface LearnedSchedule extends PollSchedule {
  /** Returns the run times learned so far, to pass to the next start as `kept`. */
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
  const byKey = new Map<string, TrackedJob>();

  const nameOf = (job: PollJob) => `${job.endpoint ?? ''} ${job.variant ?? ''}`.trim();
  const modelOf = (job: PollJob) => {
    const name = job.endpoint ?? '';
    const known = models.get(name);
    if (known !== undefined) return known;
    const model = new EndpointModel(variants.planOf, scheduler, (tracked) => forget(byKey, tracked));
    models.set(name, model);
    return model;
  };

  return {
    pollTimes: (job) =>
      new Observable<void>((times) => {
        const variant = variants.nameOf(nameOf(job));
        const tracked = modelOf(job).add({ job, variant, times });
        tracked.another = byKey.get(job.key);
        byKey.set(job.key, tracked);
        return tracked;
      }),
    observe(key, reply, at) {
      const tracked = meantBy(reply, byKey.get(key));
      if (tracked === undefined) return;
      tracked.isAsked = false;
      const { owner, variant } = tracked;
      const ended = isTerminal(reply.status);
      const state = ended ? 'ended' : reply.status === 'IN_QUEUE' ? 'waiting' : 'working';
      const believedMs = owner.replied(tracked, { at, state, ...timesOf(tracked, reply, at) });
      if (!ended) return;
      const runTimeMs = reply.executionTime ?? believedMs;
      const running = () => owner.runningAges(variant);
      if (variants.observe(variant, { runTimeMs, at: scheduler.now(), running })) owner.rearm();
    },
    keep: () => variants.keep(),
    useClock: (used) => clock.use(used),
  };
}

function forget(byKey: Map<string, TrackedJob>, tracked: TrackedJob): void {
  const { key } = tracked;
  const others = ofKey(byKey.get(key)).filter((one) => one !== tracked);
  others.forEach((one, place) => (one.another = others[place + 1]));
  const [first] = others;
  if (first === undefined) byKey.delete(key);
  else byKey.set(key, first);
}

/** The job, and the others with its key. */
function ofKey(first: TrackedJob | undefined): TrackedJob[] {
  const all: TrackedJob[] = [];
  for (let one = first; one !== undefined; one = one.another) all.push(one);
  return all;
}

/** The job that a reply is about, among those of one key. If two poll the same job, the one that waits for a reply. */
function meantBy({ id }: JobReply, first: TrackedJob | undefined): TrackedJob | undefined {
  if (first?.another === undefined) return first;
  const own = ofKey(first).filter(({ jobId }) => jobId === undefined || jobId === id);
  // The one that has waited for a reply for longest.
  return own.findLast(({ isAsked }) => isAsked) ?? own.at(-1);
}

function timesOf(job: Pick<PollJob, 'submittedAt'>, reply: JobReply, at: number) {
  const { delayTime, executionTime } = reply;
  // A running job has started, whatever the service's clock shows; a start in the future would delay its next poll.
  const startedAt = delayTime === undefined ? undefined : Math.min(job.submittedAt + delayTime, at);
  const endedAt =
    startedAt === undefined || executionTime === undefined ? undefined : startedAt + executionTime;
  return { startedAt, endedAt };
}

interface Planned {
  readonly name: string;
  readonly runTimes: RunTimeDistribution;
  plan: PollPlan;
  /** Samples since the plan was made. */
  newSamples: number;
  plannedAt: number;
}

/** The poll times are planned again when this share of the samples is new, and not more often than this. */
const replan = { share: 0.06, everyMs: 100 };

/** The run-time distributions of endpoints and variants by name, each with its best poll times. */
function createPlannedVariants(msPerCall: number, kept: Readonly<Record<string, KeptRunTimes>>) {
  const variants = new Map<string, Planned>();
  const plannedOf = (name: string): Planned => {
    const known = variants.get(name);
    if (known !== undefined) return known;
    const runTimes = createRunTimeDistribution(kept[name]);
    const fresh = {
      name,
      runTimes,
      plan: planPolls(runTimes.massGiven([]), msPerCall),
      newSamples: 0,
      plannedAt: 0,
    };
    variants.set(name, fresh);
    return fresh;
  };
  return {
    /** Returns the same string object for all jobs with this name. */
    nameOf: (name: string) => plannedOf(name).name,
    planOf: (name: string) => plannedOf(name).plan,
    /** Records the run time of an ended job; `running` returns the ages of running jobs. Returns true if the distribution has changed. */
    observe(
      name: string,
      { runTimeMs, at, running }: { runTimeMs: number; at: number; running: () => readonly number[] },
    ): boolean {
      const planned = plannedOf(name);
      const before = planned.runTimes.samples;
      planned.runTimes.observe(runTimeMs);
      planned.newSamples += 1;
      const hasChanged = planned.runTimes.samples < before;
      const isDue =
        planned.newSamples >= replan.share * planned.runTimes.samples &&
        at - planned.plannedAt >= replan.everyMs;
      if (!hasChanged && !isDue) return false;
      planned.plan = planPolls(planned.runTimes.massGiven(running()), msPerCall);
      planned.newSamples = 0;
      planned.plannedAt = at;
      return hasChanged;
    },
    keep: () => Object.fromEntries([...variants].map(([name, { runTimes }]) => [name, runTimes.keep()])),
  };
}
