import { retentionMs } from '../../../src/contract/limits.js';
import { hasEnded, type Job } from './service-job.js';

/** All jobs that the service still knows. */
export interface JobStore {
  add(job: Job): void;
  /** `undefined` for an unknown job, one of another endpoint, or one whose retention is over. */
  find(endpoint: string, id: string): Job | undefined;
  /** Starts the job's retention. */
  ended(job: Job): void;
  forget(job: Job): void;
  all(): Iterable<Job>;
}

interface StoreOptions {
  now: () => number;
  /** How many ended jobs, and how many bytes of their input and output, are kept; beyond that the oldest are forgotten early. */
  maxJobs: number;
  maxBytes: number;
  /** Called before a job is dropped, to record its end. */
  onForgotten: (job: Job) => void;
}

interface Ended {
  job: Job;
  endedAt: number;
  bytes: number;
}

/** Forgets jobs by time (30 min after /run, 1 min after /runsync, 24 h in all), and by count and bytes, to limit memory. */
export function createJobStore({ now, maxJobs, maxBytes, onForgotten }: StoreOptions): JobStore {
  const jobs = new Map<string, Job>();
  const ended = { run: createFifo<Ended>(), runsync: createFifo<Ended>() };
  let count = 0;
  let bytes = 0;

  const forget = (job: Job): void => {
    if (jobs.delete(job.id)) onForgotten(job);
  };
  const drop = (queue: 'run' | 'runsync'): void => {
    const oldest = ended[queue].shift();
    if (oldest === undefined) return;
    count -= 1;
    bytes -= oldest.bytes;
    if (oldest.job.endedAt === oldest.endedAt && hasEnded(oldest.job)) forget(oldest.job);
  };
  const sweep = (): void => {
    for (const queue of ['runsync', 'run'] as const)
      for (let first = ended[queue].peek(); first && isStale(first, now()); first = ended[queue].peek())
        drop(queue);
    while (count > maxJobs || (bytes > maxBytes && count > 1))
      drop(olderOf(ended.run.peek(), ended.runsync.peek()));
  };

  return {
    add(job) {
      jobs.set(job.id, job);
    },
    find(endpoint, id) {
      sweep();
      const job = jobs.get(id);
      if (job?.endpoint !== endpoint) return undefined;
      if (!isOver(job, now())) return job;
      forget(job);
      return undefined;
    },
    ended(job) {
      const size = job.bytes + (job.output?.length ?? 0);
      ended[job.operation].push({ job, endedAt: job.endedAt ?? now(), bytes: size });
      count += 1;
      bytes += size;
      sweep();
    },
    forget,
    all: () => jobs.values(),
  };
}

/** Whether the job was retried since, or is gone. */
function isStale(entry: Ended, now: number): boolean {
  return entry.job.endedAt !== entry.endedAt || isOver(entry.job, now);
}

/** Whether the service no longer knows the job. */
function isOver(job: Job, now: number): boolean {
  if (now > job.submittedAt + (job.limits.ttl ?? retentionMs.job)) return true;
  return hasEnded(job) && job.endedAt !== undefined && now > job.endedAt + retentionMs[job.operation];
}

function olderOf(run: Ended | undefined, runsync: Ended | undefined): 'run' | 'runsync' {
  if (run === undefined) return 'runsync';
  return runsync === undefined || run.endedAt <= runsync.endedAt ? 'run' : 'runsync';
}

/** A FIFO list that is cheap at both ends: an array with a moving head, because `Array.shift` moves every item of a long one. */
export function createFifo<T>() {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    push: (item: T): void => void items.push(item),
    /** The oldest item, without removing it. */
    peek: () => items[head],
    shift(): T | undefined {
      const item = items[head];
      if (head < items.length) items[head++] = undefined;
      if (head > 1_000 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
  };
}
