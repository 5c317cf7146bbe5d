import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Fault } from '../faults/fault.js';
import type { Clock } from '../clock.js';

/** The states of spec section 3 and two further ends of live services. */
type JobStatus = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT';

/** Limits sent beside the input; durations in ms. */
export interface JobLimits {
  executionTimeout?: number | undefined;
  ttl?: number | undefined;
  lowPriority?: boolean | undefined;
}

/** A job as the service keeps it. JSON values are kept as text, because they are sent many times, and their length is their size. */
export interface Job {
  id: string;
  endpoint: string;
  operation: 'run' | 'runsync';
  input: Record<string, unknown>;
  /** Bytes of the request's body. */
  bytes: number;
  limits: JobLimits;
  webhook?: string | undefined;
  /** Resolves after the first call of its webhook, or at once if there is none; set at the job's end. */
  calledBack?: Promise<void>;
  faults: readonly Fault[];
  status: JobStatus;
  submittedAt: number;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  workerId?: string | undefined;
  executions: number;
  /** JSON text; partial while IN_PROGRESS. */
  output?: string | undefined;
  error?: string | undefined;
  /** The HTTP code with which /runsync reports the failure. */
  httpStatus?: number | undefined;
  costMicroDollars: MicroDollars;
  /** JSON texts that /stream has not delivered yet. */
  chunks: string[];
  /** Called at every change that a request may wait for. */
  watchers: Set<() => void>;
  stop?: ((reason: Error) => void) | undefined;
}

/** Whether only /retry can change the job. */
export function hasEnded(job: Job): boolean {
  return job.status !== 'IN_QUEUE' && job.status !== 'IN_PROGRESS';
}

export function jobFault(job: Job, name: string): Fault | undefined {
  return job.faults.find((fault) => fault.name === name);
}

export type JobEnd =
  | { status: 'COMPLETED'; output: unknown }
  | { status: 'FAILED'; error: string; httpStatus?: number }
  | { status: 'CANCELLED' | 'TIMED_OUT'; error?: string };

/** The reason with which a running function is stopped. */
export class JobStop extends Error {
  override readonly name = 'JobStop';

  constructor(readonly end: JobEnd) {
    super(end.status === 'TIMED_OUT' ? 'the job timed out' : 'the job was cancelled');
  }
}

/** The job as /status and /runsync show it. (spec 2.1, 2.6) */
export function jobReplyText(job: Job): string {
  const fields = [`"id":${JSON.stringify(job.id)}`, `"status":"${job.status}"`];
  if (job.startedAt !== undefined) fields.push(`"delayTime":${job.startedAt - job.submittedAt}`);
  if (job.startedAt !== undefined && hasEnded(job) && job.endedAt !== undefined)
    fields.push(`"executionTime":${job.endedAt - job.startedAt}`);
  if (job.output !== undefined) fields.push(`"output":${job.output}`);
  if (job.error !== undefined) fields.push(`"error":${JSON.stringify(job.error)}`);
  if (job.workerId !== undefined) fields.push(`"workerId":"${job.workerId}"`);
  return `{${fields.join(',')}}`;
}

/** Resolves when the condition holds, or after `ms`. */
export function waitForJob(job: Job, clock: Clock, ms: number, isReady: () => boolean): Promise<void> {
  if (ms <= 0 || isReady()) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      job.watchers.delete(look);
      resolve();
    };
    const look = (): void => {
      if (isReady()) done();
    };
    const cancel = clock.after(ms, done);
    job.watchers.add(look);
  });
}
