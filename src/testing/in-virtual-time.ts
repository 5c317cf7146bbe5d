import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import type { JobEvent } from '../contract/outcome.js';
import { clientOn, type Client } from '../endpoints/client-on.js';
import type { ClientOptions } from '../endpoints/client-state.js';
import { jobEvents, jobOver, type MarbleJob } from './marble-jobs.js';
import { createTestService, type TestService, type TestServiceOptions } from './test-service.js';

/** What a test in virtual time is given: the helpers of rxjs' `TestScheduler`, and a service, clients and jobs by the same clock. */
export interface VirtualRun extends RunHelpers {
  readonly scheduler: TestScheduler;
  /** A service in memory. */
  createService(options?: TestServiceOptions): TestService;
  /** A client of that service, without jitter. */
  createClient(service: TestService, options?: Omit<ClientOptions, 'scheduler' | 'transport'>): Client;
  /** A job out of a marble diagram; the letters are those of `jobEvents`, unless other events are given. */
  job<O = string>(marbles: string, values?: Readonly<Record<string, JobEvent<O>>>): MarbleJob<O>;
}

/**
 * Runs a test under one virtual clock: a character of a marble diagram is 1 ms, jobs, polls, backoff, gates and the service
 * wait in its time, and an hour takes as long as a moment.
 *
 * @param assertEqual of your test runner: `(actual, expected) => expect(actual).toEqual(expected)`
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
  const scheduler = new TestScheduler((actual, expected) => assertEqual(actual, expected));
  scheduler.run((helpers) => {
    play({
      ...helpers,
      scheduler,
      createService: (options) => createTestService(scheduler, options),
      createClient: ({ transport }, options = {}) =>
        clientOn(
          { baseUrl: 'https://api.example.test', random: () => 1, ...options, scheduler },
          { createTransport: () => transport },
        ),
      job: <O>(marbles: string, values?: Readonly<Record<string, JobEvent<O>>>) =>
        jobOver(helpers.cold<JobEvent<O>>(marbles, values ?? (jobEvents as Record<string, JobEvent<O>>))),
    });
  });
}
