import { identity, of } from 'rxjs';
import type { JobEvent, CheckpointEvent } from '../../src/contract/outcome.js';
import type { JobSpec } from '../../src/operators/purchase/job-spec.js';
import { pollFixed } from '../../src/policy/polling/poll-schedule.js';
import { requestTo, type Virtual } from './virtual-time.js';

/** A job spec for /v2/e/run that is polled every 3 ms, and what it noted. */
export function virtualSpec(
  { scheduler }: Pick<Virtual, 'scheduler'>,
  overrides: Partial<JobSpec<unknown>> = {},
) {
  const checkpoints: CheckpointEvent<unknown>[] = [];
  const reported: JobEvent<unknown>[] = [];
  const spec: JobSpec<unknown> = {
    key: 'k',
    purpose: 'submit',
    sync: false,
    request: requestTo('/v2/e/run'),
    queue: {
      status: (jobId) => requestTo(`/v2/e/status/${jobId}`, 'GET'),
      cancel: (jobId) => ({ ...requestTo(`/v2/e/cancel/${jobId}`), paid: false }),
    },
    check: (outcome) => of(outcome),
    options: {
      deadlineMs: 1_000,
      onUnsubscribe: 'detach',
      retry: { maxRetries: 2, initialMs: 4, factor: 1, maxMs: 4 },
      poll: pollFixed(3, scheduler),
    },
    endpoint: 'e',
    checkpoint: (event) => {
      checkpoints.push(event);
      return [];
    },
    untilAborted: identity,
    trace: { endpointId: 'e', key: 'k', attempt: 0 },
    report: (event) => reported.push(event),
    ...overrides,
  };
  return { spec, checkpoints, reported };
}
