import { of, type Observable } from 'rxjs';
import { checkFunction, checkMembers, checkNames, checkNumber, checkText } from '../contract/check-option.js';
import { waitBoundsMs } from '../contract/limits.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import type { Checkpoint, Outcome } from '../contract/outcome.js';
import { jobPolicySchema, type QueueRequest } from '../contract/queue-request.js';
import { checkHttpUrl } from '../contract/request-parts.js';
import { redact, type Secret } from '../contract/redact.js';
import type { StandardSchema } from '../contract/standard-schema.js';
import type { JobSpec } from '../operators/purchase/job-spec.js';
import type { JobTrace } from '../operators/requests/request-report.js';
import type { JobWebhook } from '../policy/job-webhook.js';
import type { ResolvedQueueOptions } from '../policy/queue-options.js';
import type { ClientState } from './client-state.js';
import { checkOutput } from './schema-checks.js';

/** Options of one call. */
export interface CallOptions<O = unknown> {
  /** Names the job at the gate, the poll schedule and `activity$`. @defaultValue the endpoint's id and a number */
  key?: string | undefined;
  /** Aborting errors every subscriber with the signal's reason. For the job itself it is like unsubscribing (`onUnsubscribe`). */
  signal?: AbortSignal | undefined;
  /** Overrides the endpoint's deadline, in ms. @defaultValue the endpoint's */
  deadlineMs?: number | undefined;
  /** Called with each step to be stored, and awaited before the next one. Use it to keep a journal. */
  checkpoint?: Checkpoint<O> | undefined;
  /**
   * A property that decides how long the job runs, such as a resolution. A learning poll schedule keeps one distribution for
   * each value.
   */
  variant?: string | undefined;
  /**
   * Texts of the request that are masked in all replies, as the API key is, such as the signature of a URL that grants access.
   * Where a text is not known any more, as of a job that an earlier process submitted, a pattern of such texts: all that
   * it matches is masked, or its first group, from eight characters on. @defaultValue none
   */
  secrets?: readonly (string | RegExp)[] | undefined;
}

export interface AttachOptions<O = unknown> extends CallOptions<O> {
  /** When the job was submitted, in ms since the epoch. @defaultValue the time of the first subscription */
  submittedAt?: number | undefined;
  /**
   * Whether it was submitted by `runSync`: the service keeps its result for a minute, so it is polled at least every 30 s.
   * @defaultValue false
   */
  sync?: boolean | undefined;
  /** Whether the job ended as `expired` before, so that the first 404 is believed. @defaultValue false */
  wasExpired?: boolean | undefined;
  /** Its callbacks: the `row` of a webhook receiver. @defaultValue none: the job is only polled */
  webhook?: JobWebhook | undefined;
}

/** Limits of a job at the service, sent beside the input, for live services only. Durations are whole ms above 0. */
export interface JobPolicy {
  /** The service stops the worker after this much run time, and the job ends as `job-timed-out`. @defaultValue the endpoint's own */
  executionTimeoutMs?: number | undefined;
  /**
   * The service drops the job this long after its submission, whatever its state: later requests find it `expired`.
   * @defaultValue 24 h at live services
   */
  ttlMs?: number | undefined;
  /** The job waits behind all jobs that do not set this. @defaultValue false */
  lowPriority?: boolean | undefined;
}

/** Options of a submission. */
export interface SubmitOptions<O = unknown> extends CallOptions<O> {
  /** Sent beside the input. */
  policy?: JobPolicy | undefined;
  /**
   * An absolute http or https URL to which the service POSTs the ended job. The URL is sent as it is; one that contains the API
   * key is refused. Or (only for `run`) the `row` of a webhook receiver, which gives each POST its own URL and handles its
   * callbacks. @defaultValue one of the endpoint's `webhooks`, or none
   */
  webhook?: string | JobWebhook | undefined;
}

/** Options of a submission by /runsync. */
export interface SyncOptions<O = unknown> extends Omit<SubmitOptions<O>, 'webhook'> {
  /**
   * How long the service holds the request (`?wait=`), in ms from 1,000 to 300,000. Then it answers with only the id, and the
   * job is polled. The client waits at least 10 s longer, whatever `executionTimeoutMs` is, so that a long job never ends as
   * `unknown`. @defaultValue not sent: the service decides, 90,000 at live ones
   */
  waitMs?: number | undefined;
  /** As for `run`, but only a URL: the reply of /runsync already ends the job. */
  webhook?: string | undefined;
}

interface Terms<O> {
  /** Endpoint id; the empty string on a route. */
  readonly endpoint: string;
  /** The prefix of generated keys. */
  readonly name: string;
  readonly options: ResolvedQueueOptions;
  readonly call: CallOptions<O>;
  readonly output: StandardSchema<unknown, O> | undefined;
}

/** The options that all calls of a client share. @throws InvalidOptionError for an invalid deadline */
export function jobSpecOf<O>(
  client: ClientState,
  { endpoint, name, options, call, output }: Terms<O>,
): Omit<JobSpec<O>, 'request' | 'purpose' | 'sync'> {
  checkNames(call, 'a call', callOptions);
  const { key = client.nextKey(name), deadlineMs = options.deadlineMs, signal, checkpoint } = call;
  const { variant, secrets } = call;
  checkText('key', key);
  checkNumber('deadlineMs', deadlineMs, 'number from 0 on');
  if (variant !== undefined) checkText('variant', variant);
  // The message does not quote the value, which may be a secret.
  if (secrets !== undefined && !(Array.isArray(secrets) && secrets.every(isSecret)))
    throw new InvalidOptionError('secrets', 'is not a list of texts and regular expressions');
  if (checkpoint !== undefined) checkFunction('checkpoint', checkpoint);
  if (output !== undefined) checkMembers('output', output, 'schema by Standard Schema', ['~standard']);
  const trace: JobTrace = {
    endpointId: endpoint,
    key,
    attempt: 0,
    httpStatus: undefined,
    requestId: undefined,
    ...(secrets && { secrets }),
  };
  return {
    key,
    endpoint,
    variant,
    options: deadlineMs === options.deadlineMs ? options : { ...options, deadlineMs },
    check: output === undefined ? unchecked : (outcome) => checkOutput(output, outcome),
    checkpoint,
    untilAborted: client.untilAborted(signal),
    trace,
    report: client.report,
  };
}

/** One function for all jobs: a closure for each job that waits would take 96 bytes. */
function unchecked(outcome: Outcome<unknown>): Observable<Outcome<never>> {
  return of(outcome as Outcome<never>);
}

function isSecret(value: unknown): value is Secret {
  return typeof value === 'string' || value instanceof RegExp;
}

const callOptions: readonly (keyof CallOptions | keyof AttachOptions | keyof SyncOptions | 'output')[] = [
  ...(['key', 'signal', 'deadlineMs', 'checkpoint', 'variant', 'secrets'] as const),
  ...(['submittedAt', 'sync', 'wasExpired', 'policy', 'webhook', 'waitMs', 'output'] as const),
];

/** The fields that are sent beside the input. @throws InvalidOptionError */
export function submissionFields(
  { policy, webhook: given }: SubmitOptions<never>,
  secrets: readonly string[],
): Omit<QueueRequest, 'input'> {
  const webhook = isReceived(given) ? undefined : given;
  if (policy === undefined && webhook === undefined) return noFields;
  if (policy !== undefined) checkMembers('policy', policy, 'policy', []);
  return {
    ...(policy !== undefined && { policy: wirePolicy(policy) }),
    ...(webhook !== undefined && { webhook: checkedWebhook(webhook, secrets) }),
  };
}

/** Whether a receiver in this process handles the callbacks. */
function isReceived(webhook: string | JobWebhook | undefined): webhook is JobWebhook {
  return typeof webhook === 'object' && (webhook as unknown) !== null && 'listen' in webhook;
}

const noFields = Object.freeze({});

/** @throws InvalidOptionError outside 1,000–300,000 */
export function checkWait(waitMs: number | undefined): void {
  const { min, max } = waitBoundsMs;
  if (waitMs === undefined || (Number.isInteger(waitMs) && waitMs >= min && waitMs <= max)) return;
  throw new InvalidOptionError('waitMs', `is not a whole number from ${min} to ${max} (got ${waitMs})`);
}

const wireNames = {
  executionTimeoutMs: 'executionTimeout',
  ttlMs: 'ttl',
  lowPriority: 'lowPriority',
} as const;

function wirePolicy(policy: JobPolicy): NonNullable<QueueRequest['policy']> {
  const sent: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(policy)) {
    if (!isPolicyName(name))
      throw new InvalidOptionError(`policy.${name}`, `is not a field: ${Object.keys(wireNames).join(', ')}`);
    if (value === undefined) continue;
    sent[wireNames[name]] = value;
  }
  const checked = jobPolicySchema.safeParse(sent);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const name = Object.entries(wireNames).find(([, wire]) => wire === issue?.path[0])?.[0];
  throw new InvalidOptionError(`policy.${name ?? ''}`, issue?.message ?? 'is not valid');
}

function isPolicyName(name: string): name is keyof typeof wireNames {
  return Object.hasOwn(wireNames, name);
}

/** The messages do not quote the URL, which may contain a secret. */
function checkedWebhook(webhook: string, secrets: readonly string[]): string {
  const problem = typeof webhook === 'string' ? checkHttpUrl(webhook) : 'is not text';
  if (problem !== undefined) throw new InvalidOptionError('webhook', problem);
  if (secrets.some((secret) => webhook.includes(secret)) || redact(webhook, secrets) !== webhook)
    throw new InvalidOptionError('webhook', 'holds the API key, which would go to another host');
  return webhook;
}
