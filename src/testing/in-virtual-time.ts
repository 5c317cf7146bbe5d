import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import { EMPTY, type Observable } from 'rxjs';
import type { JobEvent, Failed, Outcome } from '../contract/outcome.js';
import { checkFunction } from '../contract/check-option.js';
import { clientOn, type Client } from '../endpoints/client-on.js';
import type { ClientOptions } from '../endpoints/client-state.js';
import { createTestService, type TestService, type TestServiceOptions } from './test-service.js';
import type { FailureCode, Paid } from '../contract/failure-code.js';
import { asJob, type Job } from '../operators/job.js';

/**
 * The parameter of a test in virtual time: the helpers of rxjs' `TestScheduler`, and functions that create a service, clients
 * and jobs on the same clock.
 */
export interface VirtualRun extends RunHelpers {
  readonly scheduler: TestScheduler;
  /** A service in memory. */
  createService(options?: TestServiceOptions): TestService;
  /** A client of that service, without jitter. */
  createClient(service: TestService, options?: Omit<ClientOptions, 'scheduler' | 'transport'>): Client;
  /** A job from a marble diagram. Its letters are those of `jobEvents`, unless `values` has others. */
  job<O = string>(marbles: string, values?: Readonly<Record<string, JobEvent<O>>>): MarbleJob<O>;
}

/**
 * Runs a test with one virtual clock: one character of a marble diagram is 1 ms. Jobs, polls, backoff, gates and the service
 * all wait in virtual time, so that an hour takes no time at all.
 *
 * @param assertEqual of your test runner: `(actual, expected) => expect(actual).toEqual(expected)`
 * @throws InvalidOptionError if one of the two functions is missing
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { inVirtualTime } from 'millrace/testing';
 *
 * inVirtualTime(assert.deepEqual, ({ createService, createClient, flush }) => {
 *   const service = createService({ runMs: () => 3_600_000, fault: ({ count }) => (count === 1 ? 'refused' : undefined) });
 *   createClient(service).queue('echo', { deadlineMs: 86_400_000 }).run({ text: 'hello' }).subscribe();
 *   flush();
 *   assert.deepEqual(service.bill().map(({ status }) => status), ['COMPLETED']);
 * });
 * ```
 */
export function inVirtualTime(
  assertEqual: (actual: unknown, expected: unknown) => void,
  play: (run: VirtualRun) => void,
): void {
  checkFunction('assertEqual', assertEqual);
  checkFunction('play', play);
  const scheduler = new TestScheduler((actual, expected) => assertEqual(actual, expected));
  scheduler.run((helpers) => {
    play({
      ...helpers,
      scheduler,
      createService: (options) => createTestService(scheduler, options),
      createClient: (
        { transport },
        { baseUrl = 'https://api.example.test', random = () => 1, ...options } = {},
      ) => clientOn({ ...options, baseUrl, random, scheduler }, { createTransport: () => transport }),
      job: <O>(marbles: string, values?: Readonly<Record<string, JobEvent<O>>>) =>
        jobOver(helpers.cold<JobEvent<O>>(marbles, values ?? (jobEvents as Record<string, JobEvent<O>>))),
    });
  });
}

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

/** A job over any stream of events, such as a `cold` of marbles. It buys nothing. */
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
