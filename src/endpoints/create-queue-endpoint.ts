import { EMPTY, isObservable, type Observable } from 'rxjs';
import { checkMembers, checkNumber, checkObject } from '../contract/check-option.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import type { QueueFailureCode } from '../contract/failure-code.js';
import { queueRequestSchema, type QueueRequest } from '../contract/queue-request.js';
import { checkEndpointId } from '../contract/request-parts.js';
import { describeIssues, type StandardSchema } from '../contract/standard-schema.js';
import { InvalidInputError } from '../operators/job-error.js';
import type { Job, SyncJob } from '../operators/job.js';
import { createJob } from '../operators/purchase/create-job.js';
import type { JobSpec } from '../operators/purchase/job-spec.js';
import type { ClientContext } from '../operators/requests/exchange.js';
import { jobChunks, readChunks } from '../operators/streaming/read-chunks.js';
import type { JobWebhook, JobWebhooks } from '../policy/job-webhook.js';
import {
  resolveQueueOptions,
  type QueueOptions,
  type ResolvedQueueOptions,
} from '../policy/queue-options.js';
import type { WireRequest } from '../transport/transport.js';
import {
  type AttachOptions,
  type CallOptions,
  checkWait,
  jobSpecOf,
  submissionFields,
  type SubmitOptions,
  type SyncOptions,
} from './call-options.js';
import type { ClientState } from './client-state.js';
import type { QueueEndpoint, StreamOptions } from './queue-endpoint.js';
import { checkJobId, QueueQuestions } from './queue-questions.js';
import { readInput } from './schema-checks.js';
import { queueRequests, type QueueRequests, toJson } from './wire-requests.js';

export interface QueueSchemas<I, O> {
  readonly input?: StandardSchema | undefined;
  readonly output?: StandardSchema<unknown, O> | undefined;
  /** The name under which poll times are learned for calls without a variant. */
  readonly variantOf?: (input: I) => string;
}

/** @throws InvalidOptionError for an id that is not a plain path segment, and for wrong options */
export function createQueueEndpoint<I, O, C = unknown>(
  client: ClientState,
  id: string,
  options: QueueOptions,
  schemas: QueueSchemas<I, O>,
): QueueEndpoint<I, O, C> {
  const problem = checkEndpointId(id);
  if (problem !== undefined)
    throw new InvalidOptionError('endpoint id', `${problem} (got ${JSON.stringify(id)})`);
  const resolved = resolveQueueOptions(options);
  resolved.poll.useClock?.(client);
  const poll = resolved.webhooks?.poll(resolved.poll) ?? resolved.poll;
  if (resolved.webhooks !== undefined) poll.useClock?.(client);
  return new Queue(client, id, { ...resolved, poll }, schemas);
}

/** The parts of a job in which the calls differ. */
type What<O> = Pick<JobSpec<O>, 'purpose' | 'sync' | 'request' | 'known' | 'retried'> & {
  readonly webhook?: string | JobWebhook | JobWebhooks | undefined;
};

class Queue<I, O, C> extends QueueQuestions implements QueueEndpoint<I, O, C> {
  // Private, because the client has the key: a logged endpoint shows only its id.
  readonly #client: ClientState;
  readonly #options: ResolvedQueueOptions;
  readonly #schemas: QueueSchemas<I, O>;
  readonly #context: ClientContext;
  readonly #requests: QueueRequests;
  readonly #chunks = new WeakMap<Job<O>, Observable<C>>();

  constructor(client: ClientState, id: string, options: ResolvedQueueOptions, schemas: QueueSchemas<I, O>) {
    const context = client.contextOf(id, client.baseUrl(), options.maxConcurrency);
    const requests = queueRequests(client.apiKey, `${client.baseUrl()}/v2/${id}`);
    super(id, requests, options.retry, context);
    this.#client = client;
    this.#options = options;
    this.#schemas = schemas;
    this.#context = context;
    this.#requests = requests;
  }

  run(input: I, options: SubmitOptions<O> = {}): Job<O, QueueFailureCode> {
    checkObject(options);
    const request = this.submission(input, options, this.#requests.run);
    const { webhook = this.#options.webhooks } = options;
    return this.job(this.varied(input, options, request), {
      purpose: 'submit',
      sync: false,
      request,
      webhook,
    });
  }

  runSync(input: I, options: SyncOptions<O> = {}): SyncJob<O, QueueFailureCode> {
    checkObject(options);
    const { waitMs } = options;
    checkWait(waitMs);
    const { executionTimeoutMs } = this.#options;
    const request = this.submission(input, options, (body) =>
      this.#requests.runSync(body, executionTimeoutMs, waitMs),
    );
    return this.job(this.varied(input, options, request), { purpose: 'submit', sync: true, request });
  }

  attach(jobId: string, options: AttachOptions<O> = {}): Job<O, QueueFailureCode> {
    checkObject(options);
    const { submittedAt, sync = false, wasExpired = false } = options;
    if (submittedAt !== undefined) checkNumber('submittedAt', submittedAt, 'number');
    const known = {
      jobId: checkJobId(jobId),
      ...(submittedAt !== undefined && { submittedAt }),
      sync,
      wasExpired,
    };
    const { webhook } = options;
    return this.job(options, { purpose: 'submit', sync: false, request: EMPTY, known, webhook });
  }

  retry(jobId: string, options: CallOptions<O> = {}): Job<O, QueueFailureCode> {
    const retried = checkJobId(jobId);
    const request = this.#requests.retry(retried);
    return this.job(options, { purpose: 'retry', sync: false, request, retried });
  }

  stream(job: Job<O> | string, options: StreamOptions = {}): Observable<C> {
    checkObject(options);
    const [client, defaults, requests] = [this.#client, this.#options, this.#requests];
    const { deadlineMs = defaults.deadlineMs, signal } = options;
    checkNumber('deadlineMs', deadlineMs, 'number from 0 on');
    if (typeof job !== 'string') checkMembers('job', job, 'job', ['key', 'jobId', 'subscribe']);
    const key = options.key ?? (typeof job === 'string' ? this.id : job.key);
    const read = (jobId: string) => {
      const question = { request: requests.status(jobId), chunks: requests.stream(jobId) };
      const task = { ...question, key, jobId, backoff: defaults.retry, deadlineMs };
      return readChunks(task, this.#context) as Observable<C>;
    };
    return this.chunksOf(job, read).pipe(client.untilAborted(signal));
  }

  /** One reader for each job, because the service returns each chunk only once. */
  private chunksOf(job: Job<O> | string, read: (jobId: string) => Observable<C>): Observable<C> {
    if (typeof job === 'string') return read(checkJobId(job));
    const chunks = this.#chunks.get(job) ?? jobChunks(job, read);
    this.#chunks.set(job, chunks);
    return chunks;
  }

  /** Written field by field, because a spread of fourteen fields takes longer than the rest of this function. */
  private job(call: CallOptions<O>, what: What<O>): Job<O, QueueFailureCode> {
    const [client, options, schemas] = [this.#client, this.#options, this.#schemas];
    const { id } = this;
    const terms = jobSpecOf(client, { endpoint: id, name: id, options, call, output: schemas.output });
    const spec: JobSpec<O> = {
      key: terms.key,
      endpoint: id,
      variant: terms.variant,
      options: terms.options,
      check: terms.check,
      checkpoint: terms.checkpoint,
      untilAborted: terms.untilAborted,
      report: terms.report,
      trace: terms.trace,
      purpose: what.purpose,
      sync: what.sync,
      request: what.request,
      queue: this.#requests,
      known: what.known,
      retried: what.retried,
      webhook: webhookOf(what.webhook, terms.key),
    };
    return createJob(spec, this.#context) as Job<O, QueueFailureCode>;
  }

  private submission(
    input: I,
    options: SubmitOptions<O>,
    post: (body: string) => WireRequest,
  ): JobSpec<O>['request'] {
    const fields = submissionFields(options, this.#client.secrets);
    return readInput(this.#schemas.input, input, (checked) => post(queueBody(checked, fields)));
  }

  /** An input that does not match its schema has no variant; its request is a stream that errors. */
  private varied<T extends CallOptions<O>>(input: I, options: T, request: JobSpec<O>['request']): T {
    const { variantOf } = this.#schemas;
    return variantOf === undefined || isObservable(request)
      ? options
      : { ...options, variant: options.variant ?? variantOf(input) };
  }
}

/** The callbacks of a job; `undefined` if this process receives none. */
function webhookOf(webhook: What<unknown>['webhook'], key: string): JobWebhook | undefined {
  if (typeof webhook !== 'object') return undefined;
  return 'job' in webhook ? webhook.job(key) : webhook;
}

/** The function's parameters are sent as the object `input`. (spec 2.2) */
function queueBody(input: unknown, fields: Omit<QueueRequest, 'input'>): string {
  const body = queueRequestSchema.safeParse({ input, ...fields });
  if (!body.success) throw new InvalidInputError(describeIssues(body.error.issues));
  const json = toJson(body.data);
  // A `toJSON` may make a text of it, as that of a date does.
  if (!json.startsWith('{"input":{')) throw new InvalidInputError('input: is not an object in JSON');
  return json;
}
