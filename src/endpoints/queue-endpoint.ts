import { concatMap, EMPTY, map, type Observable } from 'rxjs';
import { checkEndpointId } from '../contract/endpoint-id.js';
import { healthSchema, type Health } from '../contract/health.js';
import { InvalidOptionError } from '../contract/invalid-option-error.js';
import type { JobReply } from '../contract/job-reply.js';
import { queueRequestSchema } from '../contract/queue-request.js';
import { describeIssues, type StandardSchema } from '../contract/standard-schema.js';
import { ask } from '../operators/asking/ask.js';
import type { Asking } from '../operators/asking/exchange.js';
import { InvalidInputError } from '../operators/invalid-input-error.js';
import type { Job } from '../operators/job.js';
import { createJob } from '../operators/purchase/create-job.js';
import type { Order } from '../operators/purchase/order.js';
import {
  resolveQueueOptions,
  type QueueOptions,
  type ResolvedQueueOptions,
} from '../policy/queue-options.js';
import type { Reading } from '../transport/read-reply.js';
import type { WireRequest } from '../transport/transport.js';
import type { AttachOptions, CallOptions } from './call-options.js';
import { checkInput } from './check-input.js';
import type { ClientState } from './client-state.js';
import { orderOf } from './order-of.js';
import { toJson } from './to-json.js';
import { wireRequest, type Call } from './wire-request.js';

/** A queue-based endpoint. Each call of `run`, `runSync` or `attach` makes one job; `status`, `cancel` and `health` are cold. (spec 4.1) */
export interface QueueEndpoint<I, O> {
  readonly id: string;
  /** POST /run, then polling. */
  run(input: I, options?: CallOptions<O>): Job<O>;
  /** POST /runsync, then polling when the reply is not final. */
  runSync(input: I, options?: CallOptions<O>): Job<O>;
  /** A job that was bought before, by its id: polls, never submits. */
  attach(jobId: string, options?: AttachOptions<O>): Job<O>;
  /** One reply. Errors with `ReplyError` or `TransportError` when there is none after the tries of the retry policy. */
  status(jobId: string): Observable<JobReply>;
  /** POST /cancel: one reply, or an error as `status`. */
  cancel(jobId: string): Observable<JobReply>;
  /** GET /health: one reply, or an error as `status`. */
  health(): Observable<Health>;
}

export interface QueueSchemas<O> {
  readonly input?: StandardSchema | undefined;
  readonly output?: StandardSchema<unknown, O> | undefined;
}

/** What answers at once: /run, /status, /cancel, /health. Longer is a hang. */
const promptMs = 60_000;

/** @throws InvalidOptionError for an id that is no plain path segment, and for wrong options */
export function createQueueEndpoint<I, O>(
  client: ClientState,
  id: string,
  options: QueueOptions,
  schemas: QueueSchemas<O>,
): QueueEndpoint<I, O> {
  const problem = checkEndpointId(id);
  if (problem !== undefined)
    throw new InvalidOptionError('endpoint id', `${problem} (got ${JSON.stringify(id)})`);
  return new Queue(client, id, resolveQueueOptions(options, client.scheduler), schemas);
}

class Queue<I, O> implements QueueEndpoint<I, O> {
  private readonly root: string;

  constructor(
    private readonly client: ClientState,
    readonly id: string,
    private readonly options: ResolvedQueueOptions,
    private readonly schemas: QueueSchemas<O>,
  ) {
    this.root = `${client.baseUrl()}/v2/${id}`;
  }

  run(input: I, options: CallOptions<O> = {}): Job<O> {
    const request = this.submission('run', input, promptMs);
    return createJob({ ...this.order(options), sync: false, request }, this.client);
  }

  runSync(input: I, options: CallOptions<O> = {}): Job<O> {
    const request = this.submission('runsync', input, this.options.executionTimeoutMs);
    return createJob({ ...this.order(options), sync: true, request }, this.client);
  }

  attach(jobId: string, options: AttachOptions<O> = {}): Job<O> {
    const { submittedAt } = options;
    const known = { jobId: checkJobId(jobId), ...(submittedAt !== undefined && { submittedAt }) };
    return createJob({ ...this.order(options), sync: false, request: EMPTY, known }, this.client);
  }

  status(jobId: string): Observable<JobReply> {
    return this.askJob({ purpose: 'poll', request: this.statusRequest(jobId), jobId: checkJobId(jobId) });
  }

  cancel(jobId: string): Observable<JobReply> {
    return this.askJob({ purpose: 'cancel', request: this.cancelRequest(jobId), jobId: checkJobId(jobId) });
  }

  health(): Observable<Health> {
    const asking = { purpose: 'health', request: this.request({ method: 'GET', path: 'health' }) } as const;
    return this.ask(asking).pipe(
      map((reading) => healthSchema.parse('value' in reading ? reading.value : {})),
    );
  }

  private order(call: CallOptions<O>): Omit<Order<O>, 'request' | 'sync'> {
    const { client, id, options, schemas } = this;
    return {
      ...orderOf(client, { endpoint: id, name: id, options, call, output: schemas.output }),
      purpose: 'submit',
      queue: { status: (jobId) => this.statusRequest(jobId), cancel: (jobId) => this.cancelRequest(jobId) },
    };
  }

  private submission(path: 'run' | 'runsync', input: I, responseMs: number): Observable<WireRequest> {
    return checkInput(this.schemas.input, input).pipe(
      map((checked) =>
        this.request({ method: 'POST', path, body: queueBody(checked), responseMs, paid: true }),
      ),
    );
  }

  private statusRequest(jobId: string): WireRequest {
    return this.request({ method: 'GET', path: `status/${encodeURIComponent(jobId)}` });
  }

  private cancelRequest(jobId: string): WireRequest {
    return this.request({ method: 'POST', path: `cancel/${encodeURIComponent(jobId)}` });
  }

  private request({ path, ...call }: QueueCall): WireRequest {
    return wireRequest(this.client.apiKey, {
      responseMs: promptMs,
      paid: false,
      ...call,
      url: `${this.root}/${path}`,
    });
  }

  private askJob(asking: Asking & { jobId: string }): Observable<JobReply> {
    return this.ask(asking).pipe(
      concatMap((reading) => ('job' in reading ? [{ ...reading.job, id: asking.jobId }] : [])),
    );
  }

  private ask(asking: Asking): Observable<Reading> {
    return ask(asking, { key: this.id, retry: this.options.retry }, this.client);
  }
}

type QueueCall = Partial<Call> & Pick<Call, 'method'> & { path: string };

/** The function's parameters go into `input`, which is an object. (spec 2.2) */
function queueBody(input: unknown): string {
  const body = queueRequestSchema.safeParse({ input });
  if (!body.success) throw new InvalidInputError(describeIssues(body.error.issues));
  return toJson(body.data);
}

function checkJobId(jobId: string): string {
  if (typeof jobId !== 'string' || jobId === '') throw new InvalidOptionError('jobId', 'is empty');
  return jobId;
}
