import { type Subscription, VirtualTimeScheduler } from 'rxjs';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';

/** A service and a client in virtual time. Times in ms. */
export interface Scenario {
  readonly jobs: number;
  readonly inFlight: number;
  /** Infinity: no job waits. */
  readonly workers: number;
  /** Run time of the n-th job. */
  readonly runTime: (n: number) => number;
  /** Somebody else keeps so many jobs of the same law in the queue. */
  readonly foreignInFlight?: number;
  /** The jobs were submitted by /runsync. */
  readonly sync?: boolean;
  /** Replies carry no delayTime and no executionTime. */
  readonly silent?: boolean;
  /** The number of workers changes. */
  readonly workersLater?: { workers: number; afterMs: number };
}

export interface Figures {
  readonly callsPerJob: number;
  readonly meanLagMs: number;
  readonly makespanMs: number;
  readonly lagsMs: number[];
  /** By number of the job, from 0. */
  readonly lagsBySubmission: number[];
}

interface Served {
  readonly run: number;
  readonly foreign: boolean;
  submittedAt: number;
  startedAt?: number;
  endedAt?: number;
  done?: () => void;
}

export function simulate(
  scenario: Scenario,
  createSchedule: (scheduler: VirtualTimeScheduler) => PollSchedule,
): Figures {
  const scheduler = new VirtualTimeScheduler(undefined, Number.POSITIVE_INFINITY);
  const schedule = createSchedule(scheduler);
  const service = createService(scheduler, scenario);
  const lagsMs: number[] = [];
  const lagsBySubmission: number[] = [];
  let calls = 0;
  let submitted = 0;
  let ended = 0;
  let foreignNumber = 0;

  const submitForeign = () => {
    if (ended >= scenario.jobs) return;
    foreignNumber += 1;
    service.submit({
      run: scenario.runTime(1e6 + foreignNumber),
      foreign: true,
      submittedAt: scheduler.now(),
      done: submitForeign,
    });
  };

  const submit = () => {
    if (submitted >= scenario.jobs) return;
    submitted += 1;
    const number = submitted;
    const key = `job-${number}`;
    const job: Served = { run: scenario.runTime(number), foreign: false, submittedAt: scheduler.now() };
    service.submit(job);
    const { sync } = scenario;
    const times = schedule.pollTimes({ key, submittedAt: scheduler.now(), sync });
    const polls: Subscription = times.subscribe(() => {
      calls += 1;
      const now = scheduler.now();
      const over = job.endedAt !== undefined;
      schedule.observe(key, replyOf(key, job, scenario.silent === true), now);
      if (!over) return;
      lagsMs.push(now - (job.endedAt ?? now));
      lagsBySubmission[number - 1] = now - (job.endedAt ?? now);
      ended += 1;
      scheduler.schedule(() => {
        polls.unsubscribe();
        submit();
      });
    });
  };

  for (let index = 0; index < (scenario.foreignInFlight ?? 0); index += 1) submitForeign();
  for (let index = 0; index < scenario.inFlight; index += 1) submit();
  scheduler.flush();
  if (ended < scenario.jobs) throw new Error(`${scenario.jobs - ended} jobs were never asked about again`);
  return {
    callsPerJob: calls / ended,
    meanLagMs: lagsMs.reduce((sum, lag) => sum + lag, 0) / ended,
    makespanMs: scheduler.now(),
    lagsMs,
    lagsBySubmission,
  };
}

function createService(scheduler: VirtualTimeScheduler, { workers, workersLater }: Scenario) {
  const queue: Served[] = [];
  let busy = 0;
  let most = workers;
  const pump = () => {
    while (busy < most && queue.length > 0) {
      const job = queue.shift();
      if (job === undefined) return;
      busy += 1;
      job.startedAt = scheduler.now();
      scheduler.schedule(() => {
        job.endedAt = scheduler.now();
        busy -= 1;
        job.done?.();
        pump();
      }, job.run);
    }
  };
  if (workersLater !== undefined) {
    scheduler.schedule(() => {
      most = workersLater.workers;
      pump();
    }, workersLater.afterMs);
  }
  return {
    submit(job: Served) {
      queue.push(job);
      pump();
    },
  };
}

function replyOf(id: string, job: Served, silent: boolean) {
  if (job.startedAt === undefined) return { id, status: 'IN_QUEUE' };
  const status = job.endedAt === undefined ? 'IN_PROGRESS' : 'COMPLETED';
  if (silent) return { id, status };
  const delayTime = Math.round(job.startedAt - job.submittedAt);
  return { id, status, delayTime, ...(job.endedAt !== undefined && { executionTime: Math.round(job.run) }) };
}
