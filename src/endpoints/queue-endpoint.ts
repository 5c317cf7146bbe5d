import type { Observable } from 'rxjs';
import type { QueueFailureCode } from '../contract/failure-code.js';
import type { Health, JobReply, Purged } from '../contract/service-replies.js';
import type { Job, SyncJob } from '../operators/job.js';
import type { AttachOptions, CallOptions, SubmitOptions, SyncOptions } from './call-options.js';
import type { SchemaInput, SchemaOutput, StandardSchema } from '../contract/standard-schema.js';

/**
 * A queue-based endpoint. Each call of `run`, `runSync`, `retry` or `attach` makes one job; what buys work sends one POST,
 * however many subscribe. The others are cold: subscribing asks, unsubscribing aborts. (spec 4.1; `stream`,
 * `cancel`, `retry`, `health`, `purgeQueue` and every `waitMs` are calls of live services beyond it)
 *
 * @typeParam I what `run` and `runSync` take
 * @typeParam O the output of a completed job
 * @typeParam C a chunk of `stream`
 */
export interface QueueEndpoint<I, O, C = unknown> {
  /** As it stands in the path. */
  readonly id: string;
  /**
   * POST /run, then polling.
   * @throws InvalidOptionError for options that cannot be used; nothing was sent
   */
  run(input: I, options?: SubmitOptions<O>): Job<O, QueueFailureCode>;
  /**
   * POST /runsync, then polling when the reply is not final. With `waitMs` the service answers with the id before the
   * client gives up, so that a job of any length ends with a known result.
   * @throws InvalidOptionError for options that cannot be used; nothing was sent
   */
  runSync(input: I, options?: SyncOptions<O>): SyncJob<O, QueueFailureCode>;
  /**
   * A job that was bought before, by its id: polls, never submits.
   * @throws InvalidOptionError when the id is empty
   */
  attach(jobId: string, options?: AttachOptions<O>): Job<O, QueueFailureCode>;
  /**
   * POST /retry: a job that ended as FAILED or TIMED_OUT runs again under its id, while the service keeps its result. A
   * purchase like `run`: one POST, tried again only when it was provably refused, without a known result `unknown` and never sent again;
   * a job in any other state is `rejected`, one that is gone `expired`.
   * @throws InvalidOptionError when the id is empty
   */
  retry(jobId: string, options?: CallOptions<O>): Job<O, QueueFailureCode>;
  /**
   * The chunks that the function yields, each once and in order; completes with the job, when all of them have come.
   * A job is subscribed (and so bought), an id is only read. All streams of one job are one reader, with the deadline and
   * the key of the first: late and returning subscribers are given the earlier chunks first. The service hands each chunk
   * out once: two streams of one id take them from each other.
   *
   * Errors with a `JobError` when the job fails, and with `ChunkGapError` when a reply was lost and the output of the job
   * does not hold its chunks.
   *
   * @example
   * ```ts
   * const job = endpoint.run({ text: 'hello' });
   * endpoint.stream(job).subscribe((chunk) => console.log(chunk));
   * ```
   * @throws InvalidOptionError when the id is empty
   */
  stream(job: Job<O> | string, options?: StreamOptions): Observable<C>;
  /**
   * One reply. Errors with `ReplyError` or `TransportError` when there is none after the tries of the retry policy.
   * @throws InvalidOptionError when the id is empty, or for a `waitMs` out of bounds
   */
  status(jobId: string, options?: StatusOptions): Observable<JobReply>;
  /**
   * POST /cancel: one reply, or an error as `status`.
   * @throws InvalidOptionError when the id is empty
   */
  cancel(jobId: string): Observable<JobReply>;
  /** GET /health: one reply, or an error as `status`. */
  health(): Observable<Health>;
  /**
   * GET /health at once, and again `everyMs` after each reply, until unsubscribed. Questions never overlap. Errors as
   * `health`; `retry` goes on.
   * @throws InvalidOptionError when `everyMs` is no number above 0
   */
  watchHealth(options?: WatchOptions): Observable<Health>;
  /**
   * POST /purge-queue: **takes every job that waits out of the queue of this endpoint, whoever submitted it**; those jobs
   * end as CANCELLED, in this program, in other runs and for other people. Jobs that run go on. For an operator of the
   * endpoint, never for a batch: to end jobs of your own, `cancel` each. Each subscription sends one request, which is sent
   * again only when it was provably refused.
   */
  purgeQueue(): Observable<Purged>;
}

/** Options of `stream`. */
export interface StreamOptions {
  /** From the subscription to the last chunk, in ms; then a `JobError` with code `deadline`. @defaultValue the endpoint's */
  deadlineMs?: number;
  /** Names the reader at the gate. @defaultValue the job's key, or the endpoint's id */
  key?: string;
  /** Aborting errors with the signal's reason. */
  signal?: AbortSignal;
}

/** Options of `status`. */
export interface StatusOptions {
  /**
   * Asks /status-sync, which holds the request until the job has ended or this time in ms has passed, from 1,000 to 300,000.
   * @defaultValue not held: /status
   */
  waitMs?: number;
}

/** Options of `watchHealth`. */
export interface WatchOptions {
  /** From a reply to the next question, in ms. @defaultValue 5_000 */
  everyMs?: number;
}

/**
 * Types by endpoint id, for endpoints that are called without a schema:
 *
 * @example
 * ```ts
 * declare module 'millrace' {
 *   interface EndpointTypes {
 *     upscale: { input: { url: string }; output: { url: string } };
 *     narrate: { input: { text: string }; chunk: string };
 *   }
 * }
 * client.queue('upscale').run({ url });
 * ```
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- filled by its users
export interface EndpointTypes {}

/** What an endpoint takes: by its schema, else by its id, else anything. */
export type InputOf<K extends string, S extends StandardSchema | undefined> = S extends StandardSchema
  ? SchemaInput<S>
  : NamedType<K, 'input'>;

/** What an endpoint gives: by its schema, else by its id, else anything. */
export type OutputOf<K extends string, S extends StandardSchema | undefined> = S extends StandardSchema
  ? SchemaOutput<S>
  : NamedType<K, 'output'>;

/** A chunk of an endpoint's stream: by its id, else anything. */
export type ChunkOf<K extends string> = NamedType<K, 'chunk'>;

/** What `EndpointTypes` names for an endpoint; `unknown` where it names nothing. */
type NamedType<K extends string, Part extends string> = K extends keyof EndpointTypes
  ? EndpointTypes[K] extends Readonly<Record<Part, infer T>>
    ? T
    : unknown
  : unknown;
