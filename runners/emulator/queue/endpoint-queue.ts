import { errorText } from '../../../src/contract/millrace-error.js';
import { toMicroDollars, reportedCostUsd } from '../../../src/contract/micro-dollars.js';
import { jsonText } from '../http/http-answer.js';
import { parseMilliseconds } from '../settings/parse-latency.js';
import type { QueueFunction } from '../settings/user-functions.js';
import { type ExecutionNeeds, executeJob } from './execute-job.js';
import { createFifo, type JobStore } from './job-store.js';
import { type Job, type JobEnd, jobFault, JobStop } from './service-job.js';

interface QueueOptions extends ExecutionNeeds {
  id: string;
  work: QueueFunction;
  workers: number;
  /** The time from the first job until there are workers. */
  coldStartMs: number;
  store: JobStore;
  onEnded: (job: Job) => void;
}

/** One queue-based endpoint: its workers take jobs in order; low-priority jobs come last. */
export class EndpointQueue {
  readonly #options: QueueOptions;
  readonly #queues = { normal: createFifo<Job>(), low: createFifo<Job>() };
  readonly #idle: string[];
  readonly #counts = { completed: 0, failed: 0, inProgress: 0, inQueue: 0, retried: 0 };
  #warmth: 'cold' | 'warming' | 'warm';

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#idle = Array.from({ length: options.workers }, (_, index) => `worker-${options.workers - index}`);
    this.#warmth = options.coldStartMs > 0 ? 'cold' : 'warm';
  }

  submit(job: Job): void {
    this.#options.store.add(job);
    this.#enqueue(job);
  }

  /** Ends the job as CANCELLED, unless it has ended. */
  cancel(job: Job): void {
    if (job.status === 'IN_PROGRESS') job.stop?.(new JobStop({ status: 'CANCELLED' }));
    if (job.status !== 'IN_QUEUE') return;
    this.#counts.inQueue -= 1;
    this.#end(job, { status: 'CANCELLED' });
  }

  /** Puts an ended job into the queue again under its id. */
  retry(job: Job): void {
    this.#counts.retried += 1;
    const clean = { startedAt: undefined, endedAt: undefined, workerId: undefined, output: undefined };
    Object.assign(job, clean, { error: undefined, httpStatus: undefined, faults: [], status: 'IN_QUEUE' });
    job.chunks = [];
    this.#enqueue(job);
  }

  /** Removes every waiting job from the queue; returns how many there were. */
  purge(): number {
    const { store, id } = this.#options;
    const waiting = [...store.all()].filter((job) => job.endpoint === id && job.status === 'IN_QUEUE');
    for (const job of waiting) this.cancel(job);
    return waiting.length;
  }

  /** Drops a job that the service has forgotten. */
  abandon(job: Job): void {
    if (job.status === 'IN_QUEUE') this.#counts.inQueue -= 1;
    job.stop?.(new JobStop({ status: 'CANCELLED' }));
  }

  health(): QueueHealth {
    const idle = this.#warmth === 'warm' ? this.#idle.length : 0;
    const initializing = this.#warmth === 'warming' ? this.#options.workers : 0;
    const running = this.#counts.inProgress;
    const workers = { idle, initializing, ready: idle, running, throttled: 0, unhealthy: 0 };
    return { jobs: { ...this.#counts }, workers };
  }

  #enqueue(job: Job): void {
    this.#counts.inQueue += 1;
    const stuck = jobFault(job, 'stuck');
    if (stuck === undefined) return this.#push(job);
    const ms = parseMilliseconds(stuck.value ?? '');
    if (ms !== undefined) this.#options.clock.after(ms, () => this.#push(job));
  }

  #push(job: Job): void {
    (job.limits.lowPriority === true ? this.#queues.low : this.#queues.normal).push(job);
    queueMicrotask(() => this.#pump());
  }

  #pump(): void {
    if (this.#warmth === 'cold') this.#warmUp();
    while (this.#warmth === 'warm' && this.#idle.length > 0) {
      const job = this.#next();
      if (job === undefined) return;
      void this.#work(job, this.#idle.pop() ?? '');
    }
  }

  #warmUp(): void {
    this.#warmth = 'warming';
    this.#options.clock.after(this.#options.coldStartMs, () => {
      this.#warmth = 'warm';
      this.#pump();
    });
  }

  /** The next job that is neither cancelled nor past its lifetime. */
  #next(): Job | undefined {
    for (;;) {
      const job = this.#queues.normal.shift() ?? this.#queues.low.shift();
      if (job === undefined) return undefined;
      if (job.status === 'IN_QUEUE' && this.#options.store.find(job.endpoint, job.id) === job) return job;
    }
  }

  async #work(job: Job, workerId: string): Promise<void> {
    this.#counts.inQueue -= 1;
    this.#counts.inProgress += 1;
    Object.assign(job, { status: 'IN_PROGRESS', startedAt: this.#options.clock.now(), workerId });
    job.executions += 1;
    const end = await executeJob(job, this.#options.work, this.#options);
    this.#counts.inProgress -= 1;
    this.#idle.push(workerId);
    this.#end(job, end);
    this.#pump();
  }

  #end(job: Job, end: JobEnd): void {
    const { store, clock, onEnded } = this.#options;
    settleJob(job, end, clock.now());
    if (job.status === 'COMPLETED') this.#counts.completed += 1;
    if (job.status === 'FAILED' || job.status === 'TIMED_OUT') this.#counts.failed += 1;
    for (const watcher of [...job.watchers]) watcher();
    store.ended(job);
    if (jobFault(job, 'expire')) store.forget(job);
    onEnded(job);
  }
}

/** Ends the job: state, output, price. Only a completed job costs anything. */
function settleJob(job: Job, end: JobEnd, now: number): void {
  job.endedAt = now;
  if (end.status === 'COMPLETED') return complete(job, end.output);
  job.status = end.status;
  job.output = undefined;
  job.error = end.error;
  job.httpStatus = end.status === 'FAILED' ? end.httpStatus : undefined;
}

function complete(job: Job, result: unknown): void {
  const output = priced(job, result);
  job.costMicroDollars = toMicroDollars(reportedCostUsd(output) ?? 0);
  try {
    job.output = jobFault(job, 'no-output') ? undefined : jsonText(shown(job, output));
    job.status = 'COMPLETED';
  } catch (error) {
    job.status = 'FAILED';
    job.costMicroDollars = 0;
    job.output = undefined;
    job.error = `the function's output is not JSON: ${errorText(error)}`;
  }
}

/** The output, with the cost that the `price` fault dictates. */
function priced(job: Job, output: unknown): unknown {
  const cost = reportedCostUsd(output);
  const factor = Number(jobFault(job, 'price')?.value ?? 1);
  if (cost === null || factor === 1) return output;
  return { ...(output as object), cost: Math.round(cost * factor * 1e6) / 1e6 };
}

/** The output as it is sent, which may have no cost. */
function shown(job: Job, output: unknown): unknown {
  if (reportedCostUsd(output) === null) return output;
  if (jobFault(job, 'null-cost')) return { ...(output as object), cost: null };
  return jobFault(job, 'no-cost') ? { ...(output as object), cost: undefined } : output;
}

/** The answer of /health. */
export interface QueueHealth {
  jobs: { completed: number; failed: number; inProgress: number; inQueue: number; retried: number };
  workers: {
    idle: number;
    initializing: number;
    ready: number;
    running: number;
    throttled: number;
    unhealthy: number;
  };
}

/** The sum over several endpoints. */
export function addHealth(each: readonly QueueHealth[]): QueueHealth {
  const sum: QueueHealth = {
    jobs: { completed: 0, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
    workers: { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 },
  };
  for (const { jobs, workers } of each) {
    addTo(sum.jobs, jobs);
    addTo(sum.workers, workers);
  }
  return sum;
}

function addTo<K extends string>(sum: Record<K, number>, more: Record<K, number>): void {
  for (const key of Object.keys(sum) as K[]) sum[key] += more[key];
}
