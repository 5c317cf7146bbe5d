import type { Observable } from 'rxjs';
import type { QueueFailureCode } from '../contract/failure-code.js';
import type { Health, JobReply, Purged } from '../contract/service-replies.js';
import type { Job, SyncJob } from '../operators/job.js';
import type { AttachOptions, CallOptions, SubmitOptions, SyncOptions } from './call-options.js';
import type { SchemaInput, SchemaOutput, StandardSchema } from '../contract/standard-schema.js';

/**
 * A queue-based endpoint. Each call of `run`, `runSync`, `retry` or `attach` creates one job. A job that buys work sends one
 * POST, however many subscribers it has. The other calls are cold: subscribing sends the request, unsubscribing aborts it.
 * (spec 4.1; only live services have `stream`, `cancel`, `retry`, `health`, `purgeQueue` and every `waitMs`)
 *
 * @typeParam I the input of `run` and `runSync`
 * @typeParam O the output of a completed job
 * @typeParam C a chunk of `stream`
 */
export interface QueueEndpoint<I, O, C = unknown> {
  /** The endpoint id, as in the path. */
  readonly id: string;
  /**
   * POST /run, then polling.
   * @throws InvalidOptionError for invalid options; nothing was sent
   */
  run(input: I, options?: SubmitOptions<O>): Job<O, QueueFailureCode>;
  /**
   * POST /runsync, then polling if the reply is not final. With `waitMs` the service answers with the id before the client
   * gives up, so that a job of any length ends with a known result.
   * @throws InvalidOptionError for invalid options; nothing was sent
   */
  runSync(input: I, options?: SyncOptions<O>): SyncJob<O, QueueFailureCode>;
  /**
   * Follows an earlier purchase by its job id: polls, never submits.
   * @throws InvalidOptionError for an empty id
   */
  attach(jobId: string, options?: AttachOptions<O>): Job<O, QueueFailureCode>;
  /**
   * POST /retry: runs a job that ended as FAILED or TIMED_OUT once more, under its id, as long as the service keeps its result.
   * This is a purchase like `run`: one POST, sent again only if it was provably refused; without an answer the job ends as
   * `unknown`. For a job in any other state it ends as `rejected`, for one that the service no longer knows as `expired`.
   * @throws InvalidOptionError for an empty id
   */
  retry(jobId: string, options?: CallOptions<O>): Job<O, QueueFailureCode>;
  /**
   * The chunks that the function yields, each once and in order. Completes when the job has completed and all chunks have
   * arrived. Passing a job subscribes to it (and so buys it); passing an id only reads. All streams of one job share one
   * reader, with the deadline and key of the first; late and returning subscribers receive the earlier chunks first. But two
   * streams of one id take chunks from each other, because the service returns each chunk only once.
   *
   * Errors with a `JobError` if the job fails, and with `ChunkGapError` if a reply was lost and the output of the job does not
   * contain its chunks.
   *
   * @example
   * ```ts
   * const job = endpoint.run({ text: 'hello' });
   * endpoint.stream(job).subscribe((chunk) => console.log(chunk));
   * ```
   * @throws InvalidOptionError for an empty id
   */
  stream(job: Job<O> | string, options?: StreamOptions): Observable<C>;
  /**
   * One reply. Errors with `ReplyError` or `TransportError` after the last try of the retry policy.
   * @throws InvalidOptionError for an empty id, or a `waitMs` that is out of range
   */
  status(jobId: string, options?: StatusOptions): Observable<JobReply>;
  /**
   * POST /cancel: one reply, or an error as in `status`.
   * @throws InvalidOptionError for an empty id
   */
  cancel(jobId: string): Observable<JobReply>;
  /** GET /health: one reply, or an error as in `status`. */
  health(): Observable<Health>;
  /**
   * GET /health at once, and again `everyMs` after each reply, until unsubscribed. Requests never overlap. Errors as
   * `health` does; `retry` continues.
   * @throws InvalidOptionError if `everyMs` is not a number above 0
   */
  watchHealth(options?: WatchOptions): Observable<Health>;
  /**
   * POST /purge-queue: **removes every waiting job from the queue of this endpoint, whoever submitted it**. Those jobs end as
   * CANCELLED, in this program, in other runs and for other people. Running jobs continue. It is meant for the operator of the
   * endpoint, never for a batch: to end your own jobs, `cancel` each. Each subscription sends one request, which is sent again
   * only if it was provably refused.
   */
  purgeQueue(): Observable<Purged>;
}

/** Options of `stream`. */
export interface StreamOptions {
  /** Time from the subscription to the last chunk, in ms; then a `JobError` with code `deadline`. @defaultValue the endpoint's */
  deadlineMs?: number | undefined;
  /** Names the reader at the gate. @defaultValue the job's key, or the endpoint's id */
  key?: string | undefined;
  /** Aborting errors with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `status`. */
export interface StatusOptions {
  /**
   * Asks /status-sync, which holds the request until the job has ended or this time has passed: ms from 1,000 to
   * 300,000.
   * @defaultValue /status, which answers at once
   */
  waitMs?: number | undefined;
}

/** Options of `watchHealth`. */
export interface WatchOptions {
  /** Time from a reply to the next request, in ms. @defaultValue 5_000 */
  everyMs?: number | undefined;
}

/**
 * Types by endpoint id, for endpoints without a schema.
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

/** The input type of an endpoint: from its schema, or else from its id, or else anything. */
export type InputOf<K extends string, S extends StandardSchema | undefined> = S extends StandardSchema
  ? SchemaInput<S>
  : NamedType<K, 'input'>;

/** The output type of an endpoint: from its schema, or else from its id, or else anything. */
export type OutputOf<K extends string, S extends StandardSchema | undefined> = S extends StandardSchema
  ? SchemaOutput<S>
  : NamedType<K, 'output'>;

/** The chunk type of an endpoint's stream: from its id, or else anything. */
export type ChunkOf<K extends string> = NamedType<K, 'chunk'>;

/** The entry of `EndpointTypes` for an endpoint; `unknown` without one. */
type NamedType<K extends string, Part extends string> = K extends keyof EndpointTypes
  ? EndpointTypes[K] extends Readonly<Record<Part, infer T>>
    ? T
    : unknown
  : unknown;
