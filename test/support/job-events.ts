import { EMPTY, type Observable } from 'rxjs';
import type { FailureCode, Paid } from '../../src/contract/failure-code.js';
import type { Failed, JobEvent, Outcome } from '../../src/contract/outcome.js';
import { asJob, type Job } from '../../src/operators/job.js';

/** Events as marble values: `s` submitting, `a` accepted, `q` in queue, `p` in progress, `w` waiting, `d` done, `f` failed. */
export const events = {
  s: { type: 'submitting', sync: false },
  a: { type: 'accepted', jobId: 'j' },
  q: { type: 'status', status: 'IN_QUEUE' },
  p: { type: 'status', status: 'IN_PROGRESS' },
  w: { type: 'waiting', why: 'backoff', forMs: 1 },
  d: settled(completed('out')),
  f: settled(failed('job-failed', 'no')),
  m: settled(failed('unknown', 'maybe')),
} satisfies Record<string, JobEvent<string>>;

export function completed<O>(output: O, costUsd: number | null = null): Outcome<O> {
  return { status: 'completed', jobId: 'j', output, costUsd };
}

export function failed(code: FailureCode, paid: Paid, more: Partial<Failed> = {}): Failed {
  return { status: 'failed', code, paid, message: code, ...more };
}

export function settled<O>(outcome: Outcome<O>): JobEvent<O> {
  return { type: 'settled', outcome };
}

/** A job over any stream, which notes whether it was cancelled. */
export function jobOver<O>(stream: Observable<JobEvent<O>>, jobId?: string): Job<O> & { cancels: number } {
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
  return Object.defineProperty(asJob(stream, facts), 'cancels', { get: () => facts.cancels }) as Job<O> & {
    cancels: number;
  };
}
