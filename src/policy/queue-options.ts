import * as z from 'zod';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { defaultRunsyncTimeoutMs } from '../contract/limits.js';
import { defaultBackoff } from './retry-delay.js';
import type { JobWebhooks } from './job-webhook.js';
import { pollExponential, type PollSchedule } from './polling/poll-schedule.js';

/** How often and how soon a request is repeated if that is safe. Durations in ms. */
export interface RetryPolicy {
  /** Extra tries after the first, a whole number from 0. Polls are repeated until the deadline in any case. @defaultValue 4 */
  maxRetries?: number | undefined;
  /** The first wait; equal jitter applies. @defaultValue 500 */
  initialMs?: number | undefined;
  /** Each wait is this many times the one before, at least 1. @defaultValue 2 */
  factor?: number | undefined;
  /** The longest wait, unless the service asks for more. @defaultValue 30_000 */
  maxMs?: number | undefined;
}

/** Options of a queue endpoint. Durations in ms. */
export interface QueueOptions {
  /**
   * Client timeout of /runsync, above 0: `execution_timeout_ms` of the endpoint's configuration. (spec 2.4, 8)
   * @defaultValue 60_000
   */
  executionTimeoutMs?: number | undefined;
  /** Time from the first subscription to the end. Then polling stops, but the job does not. @defaultValue 3_600_000 */
  deadlineMs?: number | undefined;
  /**
   * What happens when the last subscriber has left: the job continues, or is cancelled at the service once its id is known.
   * @defaultValue 'detach'
   */
  onUnsubscribe?: 'detach' | 'cancel' | undefined;
  /**
   * When to poll the status. The endpoints of a run should share one schedule. Its errors are reported and end no job.
   * @defaultValue pollExponential()
   */
  poll?: PollSchedule | undefined;
  /** How often and how soon a refused POST or a failed GET is sent again. A POST that may have been accepted never is. */
  retry?: RetryPolicy | undefined;
  /**
   * Receives the service's callbacks about the jobs of `run`: a `createWebhookReceiver`. Jobs are still polled, by `poll`, but
   * rarely while callbacks come. @defaultValue none
   */
  webhooks?: JobWebhooks | undefined;
  /**
   * Requests of this endpoint on the wire at once, of all kinds together, a whole number from 1; see that of the client.
   * @defaultValue only the client's limit
   */
  maxConcurrency?: number | undefined;
}

export interface ResolvedQueueOptions {
  readonly executionTimeoutMs: number;
  readonly deadlineMs: number;
  readonly onUnsubscribe: 'detach' | 'cancel';
  readonly poll: PollSchedule;
  readonly retry: Readonly<Required<RetryPolicy>>;
  readonly webhooks?: JobWebhooks | undefined;
  readonly maxConcurrency?: number | undefined;
}

/** Created with the first endpoint, so that importing stays fast. */
let optionsSchema: ReturnType<typeof makeOptionsSchema> | undefined;

function makeOptionsSchema() {
  const duration = z.number().nonnegative();
  return z.strictObject({
    executionTimeoutMs: z.number().positive().default(defaultRunsyncTimeoutMs),
    deadlineMs: duration.default(3_600_000),
    onUnsubscribe: z.enum(['detach', 'cancel']).default('detach'),
    poll: z.custom<PollSchedule>(isSchedule, 'is not a poll schedule').optional(),
    retry: z
      .strictObject({
        maxRetries: z.int().nonnegative().default(4),
        initialMs: duration.default(defaultBackoff.initialMs),
        factor: z.number().min(1).default(defaultBackoff.factor),
        maxMs: duration.default(defaultBackoff.maxMs),
      })
      .prefault({}),
    webhooks: z.custom<JobWebhooks>(isReceiver, 'is not a webhook receiver').optional(),
    maxConcurrency: z.number().optional(),
  });
}

/**
 * Checks the options and fills in the defaults, once. `undefined` counts as missing; 0 does not.
 * @throws InvalidOptionError with the name of the first option that is wrong
 */
export function resolveQueueOptions(options: QueueOptions = {}): ResolvedQueueOptions {
  optionsSchema ??= makeOptionsSchema();
  const parsed = optionsSchema.safeParse(options);
  if (parsed.success) return { ...parsed.data, poll: parsed.data.poll ?? pollExponential() };
  const [issue] = parsed.error.issues;
  const name = issue?.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue?.path;
  throw new InvalidOptionError(name?.join('.') || 'options', issue?.message ?? 'is not valid');
}

function isReceiver(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'job' in value && 'poll' in value;
}

function isSchedule(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'pollTimes' in value &&
    typeof value.pollTimes === 'function' &&
    'observe' in value &&
    typeof value.observe === 'function'
  );
}
