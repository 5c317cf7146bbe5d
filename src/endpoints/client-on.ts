import { asyncScheduler, Subject, type Observable, type SchedulerLike } from 'rxjs';
import {
  imageEditDefaults,
  imageEditInputSchema,
  imageEditOutputSchema,
  type ImageEditInput,
  type ImageEditOutput,
} from '../contract/image-edit.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { checkApiKey } from '../contract/request-parts.js';
import type { StandardSchema } from '../contract/standard-schema.js';
import { OpenJobs } from '../operators/purchase/open-jobs.js';
import type { RequestReport, TracedCall } from '../operators/requests/request-report.js';
import { boundOf, RequestSlots } from '../operators/requests/request-slots.js';
import { TimerQueue } from '../operators/timers/timer-queue.js';
import { createUntilAborted } from '../operators/until-aborted.js';
import { EndpointMap } from '../policy/gates/endpoint-map.js';
import type { Gate } from '../policy/gates/gate.js';
import { guardGate } from '../policy/guard-hooks.js';
import { createJobIds, type JobIds } from '../policy/job-ids.js';
import { openGate } from '../policy/gates/built-in-gates.js';
import type { QueueOptions } from '../policy/queue-options.js';
import { createRetryQuota } from '../policy/retry-quota.js';
import type { Transport } from '../transport/transport.js';
import type { Activity, ClientState } from './client-state.js';
import { createQueueEndpoint, type QueueSchemas } from './create-queue-endpoint.js';
import type { ChunkOf, InputOf, OutputOf } from './endpoint-types.js';
import type { QueueEndpoint } from './queue-endpoint.js';
import { createRouteEndpoint, type RouteEndpoint, type RouteOptions } from './route-endpoint.js';
import { checkBaseUrl } from './wire-requests.js';

/** Options of `createClient`; every one may be left out. */
export interface ClientOptions {
  /** Sent as `Authorization: Bearer …` to `baseUrl` and to the hosts of `routes()`, to no other. Without it the service answers 401. (spec 5) */
  apiKey?: string;
  /** {base_url} of queue endpoints. A trailing `/` is dropped, a trailing `/v2` refused. Needed by `queue` and `imageEdit`. */
  baseUrl?: string;
  /** @defaultValue one over got, with sockets of its own */
  transport?: Transport;
  /**
   * Before every request. An error of it is reported (`config.onUnhandledError` of rxjs) and takes no purchase with it; only
   * one of `admit` for a submission errors the job, as nothing was sent.
   * @defaultValue `openGate()`: no rate; an endpoint that refuses half of its requests, or fails time and again, pauses as a whole after a 429 or in a storm
   */
  gate?: Gate;
  /**
   * Which job has which id: an answer to /run or /runsync that names the id of another job ends its job as `unknown`, with
   * `paid` maybe. @defaultValue `createJobIds()`: the last 10,000 ids of this client
   */
  jobIds?: JobIds;
  /**
   * Requests on the wire at once, of all kinds and all endpoints together, a whole number from 1. The others wait before
   * they are sent, and can be left and cancelled meanwhile; free slots are shared fairly among endpoints, and among polls
   * and submissions. @defaultValue no bound
   */
  maxConcurrency?: number;
  /** All time goes by it, also that of gates and poll schedules that were given no other. @defaultValue asyncScheduler */
  scheduler?: SchedulerLike;
  /** From 0 to 1, for jitter. @defaultValue Math.random */
  random?: () => number;
  /**
   * The header `traceparent` of each request (W3C Trace Context), so that the service's own spans belong to yours. What is no
   * `traceparent` is not sent; an error is reported and takes no purchase with it. @defaultValue none is sent
   */
  traceparent?: (call: TracedCall) => string | undefined;
}

/** Types of a queue endpoint come from its schemas, else from `EndpointTypes`. Any Standard Schema will do. */
export interface QueueEndpointOptions<
  IS extends StandardSchema | undefined = undefined,
  OS extends StandardSchema | undefined = undefined,
> extends QueueOptions {
  /** Checks an input before anything is sent, and gives what is sent. */
  input?: IS;
  /** Checks the output of a completed job, and gives what is emitted. */
  output?: OS;
}

/** Key, hosts, transport, gate and clock shared by endpoints. Sends nothing by itself. Durations in ms, money in USD. */
export interface Client {
  /** @throws InvalidOptionError */
  queue<
    K extends string,
    IS extends StandardSchema | undefined = undefined,
    OS extends StandardSchema | undefined = undefined,
  >(
    id: K,
    options?: QueueEndpointOptions<IS, OS>,
  ): QueueEndpoint<InputOf<K, IS>, OutputOf<K, OS>, ChunkOf<K>>;
  /** The same with the types named: `queue<Input, Output>('upscale')`. Nothing is checked. */
  queue<I extends object, O = unknown, C = unknown>(
    id: string,
    options?: QueueOptions,
  ): QueueEndpoint<I, O, C>;
  /** @throws InvalidOptionError */
  imageEdit(id: string, options?: QueueOptions): QueueEndpoint<ImageEditInput, ImageEditOutput>;
  /** One load-balanced endpoint by its {lb_base_url}. @throws InvalidOptionError */
  routes(lbBaseUrl: string, options?: RouteOptions): RouteEndpoint;
  /** Hot: every event of every job, also of those that nobody is subscribed to. Never errors, never completes. */
  readonly activity$: Observable<Activity>;
  /** Hot: every request that has ended, polls included, with its status, its time and its request id. Never errors, never completes. */
  readonly requests$: Observable<RequestReport>;
  /**
   * Sends nothing more: streams of jobs error with code `closed`, and what `onUnsubscribe` says is done. Resolves when each paid
   * POST that is on the wire has its answer, and its checkpoint is durable; then closes the connections, unless they are those of a
   * transport that the client was given. Calls that are no jobs end by themselves.
   */
  close(): Promise<void>;
  /** `await using client = createClient(…)` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a client needs of where it runs. */
export interface Platform {
  /** The transport of a client that was given none. @throws InvalidOptionError */
  readonly createTransport: () => Transport;
  /** Where everything that can be observed is published besides. */
  readonly channels?: Readonly<Record<'request' | 'job', Channel>>;
}

/** A channel of `node:diagnostics_channel`. */
interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}

/** @throws InvalidOptionError for a key or a base URL that cannot be used */
export function clientOn(options: ClientOptions, platform: Platform): Client {
  const { transport = platform.createTransport() } = checkClientOptions(options);
  const channels = {
    request: channelOf<RequestReport>(platform, 'request'),
    job: channelOf<Activity>(platform, 'job'),
  };
  const open = new OpenJobs();
  const client = stateOf(options, { transport, channels, open });
  const close = async () => {
    await open.close();
    if (options.transport === undefined) transport.close?.();
  };
  return {
    queue: (id: string, queueOptions: QueueEndpointOptions = {}) => typedQueue(client, id, queueOptions),
    imageEdit: (id, queueOptions = {}) => createQueueEndpoint(client, id, queueOptions, imageEdits),
    routes: (lbBaseUrl, routeOptions = {}) => createRouteEndpoint(client, lbBaseUrl, routeOptions),
    activity$: channels.job.published,
    requests$: channels.request.published,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is published to subscribers of the client, and on a channel of the platform. */
interface Published<T> {
  readonly published: Observable<T>;
  readonly isObserved: boolean;
  publish(message: T): void;
}

function channelOf<T>({ channels }: Platform, name: 'request' | 'job'): Published<T> {
  const subject = new Subject<T>();
  const channel = channels?.[name];
  return {
    published: subject.asObservable(),
    get isObserved() {
      return subject.observed || channel?.hasSubscribers === true;
    },
    publish(message) {
      if (channel?.hasSubscribers === true) channel.publish(message);
      subject.next(message);
    },
  };
}

/**
 * The hosted image-editing endpoint: its input is checked strictly before anything is sent, and its output is read tolerantly.
 * Poll times are learned by resolution. (spec 2.5, 2.6, 4.3)
 */
const imageEdits: QueueSchemas<ImageEditInput, ImageEditOutput> = {
  input: imageEditInputSchema,
  output: imageEditOutputSchema,
  variantOf: ({ resolution = imageEditDefaults.resolution }) => resolution.toLowerCase(),
};

function typedQueue<
  K extends string,
  IS extends StandardSchema | undefined,
  OS extends StandardSchema | undefined,
>(client: ClientState, id: K, { input, output, ...options }: QueueEndpointOptions<IS, OS>) {
  type O = OutputOf<K, OS>;
  const schemas = { input, output: output as StandardSchema<unknown, O> | undefined };
  return createQueueEndpoint<InputOf<K, IS>, O, ChunkOf<K>>(client, id, options, schemas);
}

/** What each option has to have. */
const parts: Readonly<Record<keyof ClientOptions, (value: object) => boolean>> = {
  apiKey: (value) => value instanceof String,
  baseUrl: (value) => value instanceof String,
  transport: (value) => typeof value === 'function',
  gate: (value) => 'admit' in value && 'observe' in value,
  jobIds: (value) => 'claim' in value,
  scheduler: (value) => 'now' in value && 'schedule' in value,
  maxConcurrency: (value) => value instanceof Number,
  random: (value) => typeof value === 'function',
  traceparent: (value) => typeof value === 'function',
};

function checkClientOptions(options: ClientOptions): ClientOptions {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(parts, name))
      throw new InvalidOptionError(name, `is no option of a client: ${Object.keys(parts).join(', ')}`);
    if (
      value !== undefined &&
      (value === null || !parts[name as keyof ClientOptions](Object(value) as object))
    )
      throw new InvalidOptionError(name, 'is not what its type says');
  }
  return options;
}

interface Parts {
  readonly transport: Transport;
  readonly channels: { readonly request: Published<RequestReport>; readonly job: Published<Activity> };
  readonly open: OpenJobs;
}

function stateOf(options: ClientOptions, { transport, channels, open }: Parts): ClientState {
  const { apiKey, scheduler = asyncScheduler, random = Math.random, traceparent } = options;
  const problem = apiKey === undefined ? undefined : checkApiKey(apiKey);
  if (problem !== undefined) throw new InvalidOptionError('apiKey', problem);
  const baseUrl = options.baseUrl === undefined ? undefined : checkBaseUrl(options.baseUrl, 'baseUrl');
  const { gate = openGate() } = options;
  gate.useClock?.({ scheduler, random });
  const bound = boundOf(options.maxConcurrency);
  let jobs = 0;
  const quotas = new EndpointMap(createRetryQuota, (quota) => quota.isFull);
  const shared = {
    transport,
    gate: guardGate(gate),
    open,
    probe: { requests: channels.request, traceparent },
    jobIds: options.jobIds ?? createJobIds(),
    scheduler,
    timers: new TimerQueue(scheduler),
    random,
    secrets: apiKey === undefined ? [] : [apiKey],
  };
  return {
    ...shared,
    contextOf: (endpointId, url, maxConcurrency) => {
      const { host } = new URL(url);
      const bounds = [...boundOf(maxConcurrency), ...bound];
      const slots = bounds.length === 0 ? undefined : new RequestSlots(bounds, `${host}/${endpointId}`);
      return { ...shared, endpointId, host, quota: quotas.of({ endpointId, host }), slots };
    },
    apiKey,
    baseUrl: () => {
      if (baseUrl === undefined)
        throw new InvalidOptionError('baseUrl', 'is missing: queue endpoints need it');
      return baseUrl;
    },
    untilAborted: createUntilAborted(),
    nextKey: (endpointId) => `${endpointId}#${++jobs}`,
    activity: channels.job,
  };
}
