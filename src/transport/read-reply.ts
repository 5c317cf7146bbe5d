import { isObject } from '../contract/check-option.js';
import { parseJson, type Json } from '../contract/bounded-json.js';
import {
  type FailedReply,
  failedReplySchema,
  isJobReply,
  type JobReply,
  jobReplySchema,
  routeErrorSchema,
  type StreamReply,
  streamReplySchema,
  submissionReplySchema,
} from '../contract/service-replies.js';
import { knownState } from '../contract/outcome.js';
import { redact, type Secret } from '../contract/redact.js';
import { serviceErrorText } from '../contract/service-error-text.js';
import { type BodyKind, isSuccess, type RequestPurpose } from '../policy/may-send-again.js';
import { retryAfterMs } from '../policy/retry-delay.js';
import {
  BadRequestError,
  MalformedReplyError,
  NotFoundError,
  RateLimitedError,
  RedirectError,
  type ReplyError,
  type ReplyFacts,
  ServerError,
  UnauthorizedError,
  UnexpectedStatusError,
} from './reply-error.js';
import type { WireReply, WireRequest } from './transport.js';

/** A reply as it was read; it can be passed to `maySendAgain`. */
export type Reading =
  | { readonly status: number; readonly body: 'job'; readonly job: JobReply }
  | { readonly status: number; readonly body: 'failed'; readonly job: FailedReply }
  | {
      readonly status: number;
      readonly body: 'value';
      readonly value: unknown;
      readonly chunks?: StreamReply;
    }
  | {
      readonly status: number;
      readonly body: 'error' | 'no-workers' | 'unreadable';
      readonly error: ReplyError;
      readonly retryAfterMs: number | undefined;
    };

/** The request that a reply belongs to. */
export interface Asked {
  readonly purpose: RequestPurpose;
  readonly request: Pick<WireRequest, 'method' | 'url'>;
  /** The id that the reply must echo, if known. */
  readonly jobId?: string | undefined;
  /** What to mask if the service echoes it. */
  readonly secrets: readonly Secret[];
  /** The time of the reply in ms since the epoch. */
  readonly nowMs: number;
  /** As `parseJson` takes it. @defaultValue false */
  readonly hasExactNumbers?: boolean | undefined;
}

const excerptLength = 200;

/**
 * Reads a reply: the one place where an HTTP status and a body become an answer or an error. The body is read before
 * the status is judged, so that a FAILED body is an answer under any status. (spec 7)
 */
export function readReply(reply: WireReply, asked: Asked): Reading {
  const text = redact(reply.body, asked.secrets);
  const json = parseJson(text, cutLevel(reply.status, asked.purpose), asked.hasExactNumbers);
  const answer = readers[asked.purpose](reply.status, json, asked);
  if (answer) return answer;
  const retryAfter = retryAfterMs(reply.headers, asked.nowMs);
  return {
    status: reply.status,
    body: kindOfError(asked.purpose, json),
    error: errorOf(reply, { text, json, retryAfter }, asked),
    retryAfterMs: retryAfter,
  };
}

/** How the answer to a request is read: as a job, as chunks, or as a value. They return `undefined` if it is none. */
const readers: Readonly<
  Record<RequestPurpose, (status: number, json: Json, asked: Asked) => Reading | undefined>
> = {
  submit: readJob,
  retry: readJob,
  poll: readJob,
  cancel: readJob,
  stream: readChunks,
  health: readValue,
  purge: readValue,
  'route-post': readValue,
  'route-get': readValue,
};

function readChunks(status: number, json: Json): Reading | undefined {
  const chunks = streamReplySchema.safeParse(json?.value);
  if (!chunks.success || !isSuccess(status)) return undefined;
  return { status, body: 'value', value: json?.value, chunks: chunks.data };
}

function readValue(status: number, json: Json): Reading | undefined {
  return isSuccess(status) && json ? { status, body: 'value', value: json.value } : undefined;
}

function readJob(status: number, json: Json, { purpose, jobId }: Asked): Reading | undefined {
  const value = withId(json?.value, jobId);
  const failed = readFailed(value);
  if (failed !== undefined)
    return isOther(failed.id, jobId) ? undefined : { status, body: 'failed', job: failed };
  const isBought = purpose === 'submit' || purpose === 'retry';
  const schema = isBought && isSuccess(status) ? submissionReplySchema : jobReplySchema;
  const job = isJobReply(value) ? value : schema.safeParse(value).data;
  if (job === undefined || isOther(job.id, jobId)) return undefined;
  return isSuccess(status) || knownState(job.status) !== undefined ? { status, body: 'job', job } : undefined;
}

/** Checks the state first, because a schema creates an error for each value that it refuses, which is slow for most replies. */
function readFailed(value: unknown): FailedReply | undefined {
  if (typeof value !== 'object' || value === null || !('status' in value)) return undefined;
  return value.status === 'FAILED' ? failedReplySchema.safeParse(value).data : undefined;
}

/** Adds the id, which a reply to a poll may omit. */
function withId(value: unknown, jobId: string | undefined): unknown {
  if (jobId === undefined || typeof value !== 'object' || value === null || 'id' in value) return value;
  return { ...value, id: jobId };
}

function isOther(id: string | undefined, jobId: string | undefined): boolean {
  return id !== undefined && jobId !== undefined && id !== jobId;
}

function kindOfError(
  purpose: RequestPurpose,
  json: Json,
): Extract<BodyKind, 'error' | 'no-workers' | 'unreadable'> {
  const message = isRoute(purpose)
    ? routeErrorSchema.safeParse(json?.value).data?.error
    : serviceErrorText(json?.value)?.message;
  // An answer to a poll may have any shape: a JSON object comes from the service and not from a proxy.
  if (message === undefined) return purpose === 'poll' && isObject(json?.value) ? 'error' : 'unreadable';
  return /\bno workers? (is |are )?available\b/i.test(message) ? 'no-workers' : 'error';
}

function errorOf(
  { status, headers }: WireReply,
  { text, json, retryAfter }: { text: string; json: Json; retryAfter: number | undefined },
  asked: Asked,
): ReplyError {
  const reported = serviceErrorText(json?.value);
  const facts: ReplyFacts = { httpStatus: status, detail: reported?.detail, retryAfterMs: retryAfter };
  const excerpt = text.slice(0, excerptLength);
  const what = `${asked.request.method} ${new URL(asked.request.url).pathname}: HTTP ${status}`;
  const message = `${what}: ${reported?.message ?? (excerpt.trim() === '' ? 'an empty body' : excerpt)}`;
  if (isSuccess(status))
    return new MalformedReplyError(`${what}: not readable as ${expected[asked.purpose]}: ${excerpt}`, facts);
  if (status === 400) return new BadRequestError(message, facts);
  if (status === 401 || status === 403) return new UnauthorizedError(message, facts);
  if (status === 404) return new NotFoundError(message, facts);
  if (status === 429) return new RateLimitedError(message, facts);
  if (status >= 500) return new ServerError(message, facts);
  if (status >= 300 && status < 400)
    return new RedirectError(
      `${what}${whereTo(headers['location'], asked)}: redirects are not followed`,
      facts,
    );
  return new UnexpectedStatusError(message, facts);
}

/** Only the origin, because the rest of the location may contain secrets. */
function whereTo(location: string | undefined, { request, secrets }: Asked): string {
  if (location === undefined || !URL.canParse(location, request.url)) return '';
  return ` to ${redact(new URL(location, request.url).origin, secrets)}`;
}

const expected = {
  submit: 'an accepted job',
  retry: 'the job that was asked for',
  poll: 'the job that was asked for',
  cancel: 'the job that was asked for',
  stream: 'chunks of a job',
  health: 'JSON',
  purge: 'JSON',
  'route-post': 'JSON',
  'route-get': 'JSON',
} as const satisfies Record<RequestPurpose, string>;

/**
 * The level at which JSON that is too deep is kept as text, so that a job's id and state, the error of a route and the other
 * chunks of a stream stay readable. The answer of a route is one value as a whole.
 */
function cutLevel(status: number, purpose: RequestPurpose): number {
  if (purpose === 'stream') return 4;
  return isRoute(purpose) && isSuccess(status) ? 1 : 2;
}

function isRoute(purpose: RequestPurpose): boolean {
  return purpose === 'route-get' || purpose === 'route-post';
}
