import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Fault } from '../faults/fault.js';

/** The states of spec section 3 and the two further ends that live services know. */
export type JobStatus = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT';

/** Limits beside the input; durations in ms. */
export interface JobLimits {
  executionTimeout?: number | undefined;
  ttl?: number | undefined;
  lowPriority?: boolean | undefined;
}

/** A job as the service holds it. JSON values are kept as their text: it is sent again and again, and its length is its size. */
export interface Job {
  id: string;
  endpoint: string;
  operation: 'run' | 'runsync';
  input: Record<string, unknown>;
  /** Bytes of the request's body. */
  bytes: number;
  limits: JobLimits;
  webhook?: string | undefined;
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
  /** The HTTP code under which /runsync tells of the failure. */
  httpStatus?: number | undefined;
  costMicroDollars: MicroDollars;
  /** JSON texts that /stream has not delivered yet. */
  chunks: string[];
  /** Called at every change that somebody may wait for. */
  watchers: Set<() => void>;
  /** Stops the function. */
  stop?: ((reason: Error) => void) | undefined;
}

/** Whether nothing but /retry can change the job any more. */
export function hasEnded(job: Job): boolean {
  return job.status !== 'IN_QUEUE' && job.status !== 'IN_PROGRESS';
}

/** The fault of this name that was drawn for the job. */
export function jobFault(job: Job, name: string): Fault | undefined {
  return job.faults.find((fault) => fault.name === name);
}
