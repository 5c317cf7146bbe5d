import { concatMap, defer, map, of, throwError, timer, type Observable, type SchedulerLike } from 'rxjs';
import { errorText } from '../contract/millrace-error.js';
import type { JobWebhooks } from '../policy/job-webhook.js';
import { postNamedIn, tokenIn } from '../webhooks/callback-tokens.js';
import { createWebhookReceiver, type WebhookReceiver } from '../webhooks/create-webhook-receiver.js';
import { TransportError } from '../transport/transport-error.js';
import type { Transport, WireReply, WireRequest } from '../transport/transport.js';

/**
 * A fault of one request. `refused`: 429, nothing was done. `unreachable`: the request never left. `lost`: the service did the
 * work, and its reply never arrived. `broken`: HTTP 500.
 */
export type TestFault = 'refused' | 'unreachable' | 'lost' | 'broken';

/** Options of `createTestService`. Durations in ms. */
export interface TestServiceOptions {
  /** The output of a job; if it throws, the job ends as FAILED. @defaultValue `{ echo: input }` */
  run?: ((input: unknown, endpointId: string) => unknown) | undefined;
  /** How long a job waits for a worker. @defaultValue 0 */
  queueMs?: ((input: unknown, endpointId: string) => number) | undefined;
  /** How long a job runs. @defaultValue 1_000 */
  runMs?: ((input: unknown, endpointId: string) => number) | undefined;
  /** How long a request takes to the service, and its reply back. @defaultValue 0 */
  latencyMs?: number | undefined;
  /** Called for each request, with `count` from 1; returns its fault, or `undefined`. */
  fault?:
    ((request: { method: 'GET' | 'POST'; path: string; count: number }) => TestFault | undefined) | undefined;
  /**
   * When a job with a webhook is called back: in ms after its end, one call for each number. An empty list means that the call
   * is lost. If a latency or `lost` delays the answer to its POST, the callback arrives first. @defaultValue `[0]`
   */
  callBackMs?: ((job: TestJob) => readonly number[]) | undefined;
  /** The answer of a load-balanced route; `undefined` gives HTTP 404. */
  route?: ((method: 'GET' | 'POST', path: string, body: unknown) => unknown) | undefined;
}

/** A job as the service knows it. */
export interface TestJob {
  readonly id: string;
  readonly endpointId: string;
  readonly input: unknown;
  /** Its current status. */
  readonly status: string;
}

/** A service in memory: a transport, and a record of what it received. */
export interface TestService {
  readonly transport: Transport;
  /** `METHOD path` of every request that was sent, in order. */
  readonly requests: readonly string[];
  /** Every job that was bought, in order. */
  bill(): TestJob[];
  /** Pass it as the endpoint's `webhooks`: its jobs are called back, in the scheduler's time. */
  readonly webhooks: JobWebhooks;
}

/** A service in memory, on the scheduler's clock: no request leaves the process, and with a virtual clock nothing really waits. */
export function createTestService(scheduler: SchedulerLike, options: TestServiceOptions = {}): TestService {
  const service = new MemoryService(scheduler, options);
  return {
    transport: (request) => service.exchange(request),
    requests: service.requests,
    bill: () => service.bill(),
    webhooks: service.webhooks,
  };
}

interface Bought {
  readonly id: string;
  readonly endpointId: string;
  readonly input: unknown;
  readonly startsAt: number;
  readonly endsAt: number;
  isCancelled: boolean;
}

interface Call {
  readonly endpointId: string;
  readonly operation: string;
  readonly jobId: string;
}

class MemoryService {
  readonly requests: string[] = [];
  readonly webhooks: WebhookReceiver;
  private readonly jobs = new Map<string, Bought>();

  constructor(
    private readonly scheduler: SchedulerLike,
    private readonly options: TestServiceOptions,
  ) {
    const url = 'https://callbacks.example.test';
    // Signed synchronously: a promise would not resolve in virtual time.
    const hmac = () => 'signed';
    this.webhooks = createWebhookReceiver({ secret: url.repeat(2), url, run: 'test', hmac, scheduler });
  }

  exchange(request: WireRequest): Observable<WireReply> {
    const { method } = request;
    const path = new URL(request.url).pathname;
    return defer(() => {
      const count = this.requests.push(`${method} ${path}`);
      const fault = this.options.fault?.({ method, path, count });
      if (fault === 'unreachable') return fail(`${method} ${path}`, 'no');
      return this.late(() => this.answer(request, path, fault)).pipe(
        concatMap((reply) => (fault === 'lost' ? fail(`${method} ${path}`, 'maybe') : of(reply))),
      );
    });
  }

  bill(): TestJob[] {
    return [...this.jobs.values()].map((job) => {
      const { id, endpointId, input } = job;
      return { id, endpointId, input, status: this.view(job).status };
    });
  }

  /** The request and the reply each take this long to arrive. */
  private late(answer: () => Observable<WireReply>): Observable<WireReply> {
    const { latencyMs = 0 } = this.options;
    if (latencyMs === 0) return answer();
    const wait = () => timer(latencyMs, this.scheduler);
    return wait().pipe(
      concatMap(answer),
      concatMap((reply) => wait().pipe(map(() => reply))),
    );
  }

  private answer(request: WireRequest, path: string, fault: TestFault | undefined): Observable<WireReply> {
    if (fault === 'refused') return of(reply(429, { error: 'too many requests' }));
    if (fault === 'broken') return of(reply(500, { error: 'internal server error' }));
    const body: unknown = request.body === undefined ? undefined : JSON.parse(request.body);
    const [, endpointId = '', operation = '', jobId = ''] =
      /^\/v2\/([^/]+)\/([\w-]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    if (operation === '') return of(this.route(request.method, path, body));
    return this.call({ endpointId, operation, jobId: decodeURIComponent(jobId) }, body);
  }

  private route(method: 'GET' | 'POST', path: string, body: unknown): WireReply {
    const value = this.options.route?.(method, path, body);
    return value === undefined ? reply(404, { error: 'no such route' }) : reply(200, value);
  }

  private call({ endpointId, operation, jobId }: Call, body: unknown): Observable<WireReply> {
    if (operation === 'health') return of(reply(200, { jobs: { inQueue: this.waiting(endpointId) } }));
    if (operation === 'run' || operation === 'runsync') {
      const { input, webhook } = (body ?? {}) as { input?: unknown; webhook?: string };
      const job = this.buy(endpointId, input);
      if (webhook !== undefined) this.callBack(job, webhook);
      const forMs = operation === 'run' ? 0 : job.endsAt - this.scheduler.now();
      const ended = () => reply(200, this.view(job));
      return forMs === 0 ? of(ended()) : timer(forMs, this.scheduler).pipe(map(ended));
    }
    const job = this.jobs.get(jobId);
    if (job === undefined) return of(reply(404, { error: 'no such job' }));
    if (operation === 'cancel' && this.scheduler.now() < job.endsAt) job.isCancelled = true;
    return of(reply(200, this.view(job)));
  }

  private buy(endpointId: string, input: unknown): Bought {
    const { queueMs = () => 0, runMs = () => 1_000 } = this.options;
    const startsAt = this.scheduler.now() + queueMs(input, endpointId);
    const endsAt = startsAt + runMs(input, endpointId);
    const job = { id: `job-${this.jobs.size + 1}`, endpointId, input, startsAt, endsAt, isCancelled: false };
    this.jobs.set(job.id, job);
    return job;
  }

  private callBack(job: Bought, webhook: string): void {
    const post = postNamedIn(tokenIn(webhook));
    const { callBackMs = () => [0] } = this.options;
    const { id, endpointId, input } = job;
    if (post === undefined) return;
    for (const ms of callBackMs({ id, endpointId, input, status: this.view(job).status }))
      this.scheduler.schedule(
        () => void this.webhooks.deliver({ ...post, body: JSON.stringify(this.view(job)) }),
        job.endsAt - this.scheduler.now() + ms,
      );
  }

  private waiting(endpointId: string): number {
    const jobs = [...this.jobs.values()].filter((job) => job.endpointId === endpointId);
    return jobs.filter((job) => this.view(job).status === 'IN_QUEUE').length;
  }

  /** The job as the service describes it now. */
  private view(job: Bought): {
    id: string;
    status: string;
    output?: unknown;
    error?: string;
    executionTime?: number;
  } {
    const { id, endpointId, input, startsAt, endsAt, isCancelled } = job;
    const now = this.scheduler.now();
    if (isCancelled) return { id, status: 'CANCELLED' };
    if (now < startsAt) return { id, status: 'IN_QUEUE' };
    if (now < endsAt) return { id, status: 'IN_PROGRESS' };
    const { run = (echo: unknown) => ({ echo }) } = this.options;
    const executionTime = endsAt - startsAt;
    try {
      return { id, status: 'COMPLETED', output: run(input, endpointId), executionTime };
    } catch (error) {
      return { id, status: 'FAILED', error: errorText(error) };
    }
  }
}

function reply(status: number, body: unknown): WireReply {
  return { status, headers: {}, body: JSON.stringify(body) };
}

function fail(what: string, sent: 'no' | 'maybe'): Observable<never> {
  const message = `${what}: ${sent === 'no' ? 'connection refused' : 'the connection was reset'}`;
  const phase = sent === 'no' ? 'connect' : 'reset';
  return throwError(() => new TransportError(phase, undefined, sent, false, message));
}
