// For applications whose `lib` lacks `Symbol.asyncDispose`, as that of a browser often does.
/// <reference lib="esnext.disposable" preserve="true" />
import { Subject, type Observable } from 'rxjs';
import { checkMembers, checkObject } from '../contract/check-option.js';
import { imageEditDefaults, imageEditInputSchema, type ImageEditInput } from '../contract/image-edit.js';
import { imageEditOutputSchema, type ImageEditOutput } from '../contract/service-replies.js';
import type { StandardSchema } from '../contract/standard-schema.js';
import { OpenJobs } from '../operators/requests/open-jobs.js';
import type { RequestReport } from '../operators/requests/request-report.js';
import type { ReplyRoom } from '../operators/requests/reply-room.js';
import type { AsyncScope } from '../policy/guard-hooks.js';
import type { QueueOptions } from '../policy/queue-options.js';
import type { Transport } from '../transport/transport.js';
import {
  checkClientOptions,
  clientState,
  type Activity,
  type ClientOptions,
  type ClientState,
} from './client-state.js';
import { createQueueEndpoint, type QueueSchemas } from './create-queue-endpoint.js';
import type { ChunkOf, InputOf, OutputOf, QueueEndpoint } from './queue-endpoint.js';
import { createRouteEndpoint, type RouteEndpoint, type RouteOptions } from './route-endpoint.js';
import { InvalidOptionError } from '../contract/millrace-error.js';

/** The types of a queue endpoint come from its schemas, or else from `EndpointTypes`. Any Standard Schema works. */
export interface QueueEndpointOptions<
  IS extends StandardSchema | undefined = undefined,
  OS extends StandardSchema | undefined = undefined,
> extends QueueOptions {
  /** Checks an input before anything is sent. The result of the schema is sent. */
  input?: IS | undefined;
  /** Checks the output of a completed job. The result of the schema is emitted. */
  output?: OS | undefined;
}

/**
 * Creates endpoints that share a key, hosts, a transport, a gate and a clock. A client sends nothing by itself. Durations in
 * ms, money in USD.
 */
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
  /** As above, with explicit types: `queue<Input, Output>('upscale')`. Nothing is checked at run time. */
  queue<I extends object, O = unknown, C = unknown>(
    id: string,
    options?: QueueOptions,
  ): QueueEndpoint<I, O, C>;
  /** @throws InvalidOptionError */
  imageEdit(id: string, options?: QueueOptions): QueueEndpoint<ImageEditInput, ImageEditOutput>;
  /** A load-balanced endpoint at {lb_base_url}. @throws InvalidOptionError */
  routes(lbBaseUrl: string, options?: RouteOptions): RouteEndpoint;
  /** Hot: every event of every job, even of jobs without a subscriber. Never errors, never completes. */
  readonly activity$: Observable<Activity>;
  /** Hot: every request that has ended, polls included, with its status, its time and its request id. Never errors, never completes. */
  readonly requests$: Observable<RequestReport>;
  /**
   * Sends nothing more: streams of jobs error with code `closed`, and `onUnsubscribe` is applied to their jobs. Waits until
   * every paid POST on the wire has its answer and a durable checkpoint, closes the connections, unless the transport was
   * passed in as an option, and resolves. Calls that are not jobs (`status`, `watchHealth`, GETs of routes …) error with
   * `closed` instead of sending a request; only a `cancel` is still sent.
   */
  close(): Promise<void>;
  /** `await using client = createClient(…)` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The parts of a client that depend on the platform. */
export interface Platform {
  /** The transport of a client without the option `transport`. @throws InvalidOptionError */
  readonly createTransport: () => Transport;
  /** The channels on which requests and job events are also published. */
  readonly channels?: Readonly<Record<'request' | 'job', Channel>>;
  /**
   * Numbers of outputs that a JavaScript number cannot hold arrive as their texts, for files that keep them as they were.
   * @defaultValue false: as JSON.parse reads them
   */
  readonly hasExactNumbers?: boolean;
  /** Bounds the bytes of the replies to polls. @defaultValue a room of its own */
  readonly replies?: ReplyRoom;
  /** Creates the present context of asynchronous calls: a job emits and calls its functions in that of its own call. */
  readonly createScope?: () => AsyncScope;
}

/** A channel of `node:diagnostics_channel`. */
interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}

/** @throws InvalidOptionError for an invalid key or base URL */
export function clientOn(options: ClientOptions, platform: Platform): Client {
  const { transport = platform.createTransport() } = checkClientOptions(options);
  const channels = {
    request: channelOf<RequestReport>(platform, 'request'),
    job: channelOf<Activity>(platform, 'job'),
  };
  const open = new OpenJobs();
  const { hasExactNumbers, replies, createScope } = platform;
  const client = clientState(options, { transport, channels, open, hasExactNumbers, replies, createScope });
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

/** Publishes to the subscribers of the client and to a channel of the platform. */
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
 * The hosted image-editing endpoint. Its input is checked strictly before anything is sent; its output is read tolerantly. Poll
 * times are learned for each resolution. (spec 2.5, 2.6, 4.3)
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
>(client: ClientState, id: K, queueOptions: QueueEndpointOptions<IS, OS>) {
  type O = OutputOf<K, OS>;
  checkObject(queueOptions);
  const { input, output, ...options } = queueOptions;
  for (const [name, schema] of Object.entries({ input, output }))
    if (schema !== undefined) checkMembers(name, schema, 'schema by Standard Schema', ['~standard']);
  const schemas = { input, output: output as StandardSchema<unknown, O> | undefined };
  return createQueueEndpoint<InputOf<K, IS>, O, ChunkOf<K>>(client, id, options, schemas);
}

/** Options of a client of `millrace/core`, which has no default transport. */
export interface CoreClientOptions extends ClientOptions {
  transport: NonNullable<ClientOptions['transport']>;
}

const anywhere: Platform = {
  createTransport: () => {
    throw new InvalidOptionError(
      'transport',
      'is missing: millrace/core has none of its own, see millrace/fetch',
    );
  },
};

/**
 * A client that does not need Node.js.
 *
 * @throws InvalidOptionError for an invalid key or base URL, or a missing transport
 */
export function createCoreClient(options: CoreClientOptions): Client {
  return clientOn(options, anywhere);
}
