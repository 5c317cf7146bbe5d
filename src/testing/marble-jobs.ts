import { EMPTY, type Observable } from 'rxjs';
import type { FailureCode, Paid } from '../contract/failure-code.js';
import type { Failed, JobEvent, Outcome } from '../contract/outcome.js';
import { asJob, type Job } from '../operators/job.js';

/**
 * Events of a job as the values of a marble diagram: `s` submitting, `a` accepted as `j`, `q` in the queue, `p` in progress, `w` waiting,
 * `d` completed with the output `'out'`, `f` failed and not charged, `m` unknown and maybe charged.
 */
export const jobEvents = {
  s: { type: 'submitting', sync: false },
  a: { type: 'accepted', jobId: 'j' },
  q: { type: 'status', status: 'IN_QUEUE' },
  p: { type: 'status', status: 'IN_PROGRESS' },
  w: { type: 'waiting', why: 'backoff', forMs: 1 },
  d: settled(completed('out')),
  f: settled(failed('job-failed', 'no')),
  m: settled(failed('unknown', 'maybe')),
} satisfies Record<string, JobEvent<string>>;

/** The outcome of a job `j` that completed. */
export function completed<O>(output: O, costUsd: number | null = null): Outcome<O> {
  return { status: 'completed', jobId: 'j', output, costUsd };
}

/** The outcome of a job that failed. */
export function failed(code: FailureCode, paid: Paid, more: Partial<Failed> = {}): Failed {
  return { status: 'failed', code, paid, message: code, ...more };
}

/** The last event of a job. */
export function settled<O>(outcome: Outcome<O>): JobEvent<O> {
  return { type: 'settled', outcome };
}

/** A job that counts how often it was cancelled. */
export type MarbleJob<O> = Job<O> & { readonly cancels: number };

/** A job over any stream of events, a `cold` of marbles for one. It buys nothing. */
export function jobOver<O>(stream: Observable<JobEvent<O>>, jobId?: string): MarbleJob<O> {
  const facts = {
    key: 'k',
    jobId,
    statusCalls: 0,
    cancels: 0,
    cancel: () => {
      facts.cancels += 1;
      return EMPTY;
    },
  };
  return Object.defineProperty(asJob(stream, facts), 'cancels', { get: () => facts.cancels }) as MarbleJob<O>;
}
