import * as z from 'zod';
import { isJobId } from './request-parts.js';

const jobId = z.string().refine(isJobId);
const milliseconds = z.number().nonnegative().optional().catch(undefined);

/**
 * A job as the service describes it, read tolerantly: unknown fields and states are kept, `output` is any JSON value, and
 * an invalid time counts as not reported. (spec 2.1, 2.6)
 */
export const jobReplySchema = z.looseObject({
  /** Opaque: encode it in a path, never parse it. */
  id: jobId,
  /** A state of `jobStates` or an unknown one. */
  status: z.string().min(1),
  /** May be present before the end, as a partial result, and missing in a COMPLETED job. */
  output: z.unknown().optional(),
  /** Read it with `serviceErrorText`: a string, often itself JSON, and at times an object. */
  error: z.unknown().optional(),
  /** Milliseconds in the queue. */
  delayTime: milliseconds,
  /** Milliseconds of work. */
  executionTime: milliseconds,
});

/** A job as the service describes it. Times in ms. (spec 2.1, 2.6) */
export type JobReply = z.infer<typeof jobReplySchema>;

/** Whether `jobReplySchema` would return the reply unchanged, as for most replies. This check is many times faster. */
export function isJobReply(value: unknown): value is JobReply {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { id, status, delayTime, executionTime }: Partial<Record<keyof JobReply, unknown>> = value;
  if (!isJobId(id) || typeof status !== 'string' || status === '') return false;
  return isTime(delayTime) && isTime(executionTime);
}

/** The id of the job in the body of a callback; `undefined` if it is not a job status. */
export function jobIdIn(body: string | undefined): string | undefined {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return isJobReply(value) ? value.id : undefined;
  } catch {
    return undefined;
  }
}

function isTime(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value >= 0 && value < Infinity);
}

/** The answer to /run and /runsync. An id without a state also counts as an accepted job, so that the id is not lost. */
export const submissionReplySchema = jobReplySchema.extend({ status: z.string().min(1).catch('IN_QUEUE') });

/** A body with the state FAILED, whatever its HTTP status; it may lack the id. (spec 7.2) */
export const failedReplySchema = jobReplySchema.extend({
  id: jobId.optional().catch(undefined),
  status: z.literal('FAILED'),
});

export type FailedReply = z.infer<typeof failedReplySchema>;

/**
 * The answer of /stream, read tolerantly: the state of the job, and the chunks since the last such answer. The service returns
 * each chunk only once.
 */
export const streamReplySchema = z.looseObject({
  status: z.string().min(1),
  stream: z
    .array(z.unknown())
    .nullish()
    .transform((chunks) => (chunks ?? []).map(chunkIn)),
});

export type StreamReply = z.infer<typeof streamReplySchema>;

/** Live services wrap each chunk as `{ output }`. */
function chunkIn(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'output' in item ? item.output : item;
}

const count = z.number().optional().catch(undefined);

/** The answer of /health, read tolerantly: a field that is missing or not a number is absent. */
export const healthSchema = z.looseObject({
  jobs: z
    .looseObject({ completed: count, failed: count, inProgress: count, inQueue: count, retried: count })
    .optional()
    .catch(undefined),
  workers: z.looseObject({ idle: count, running: count }).optional().catch(undefined),
});

/** How many jobs and workers an endpoint has; a number that the service does not report is absent. */
export type Health = z.infer<typeof healthSchema>;

/** The answer of /purge-queue, read tolerantly. */
export const purgeReplySchema = z.looseObject({
  /** How many waiting jobs, of all clients, were removed from the queue; absent if the service does not report it. */
  removed: z.number().nonnegative().optional().catch(undefined),
  /** `completed` on live services. */
  status: z.string().optional().catch(undefined),
});

/** The result of emptying a queue. */
export type Purged = z.infer<typeof purgeReplySchema>;

/** The body of a load-balanced failure. An `error` that is an object is kept as its JSON text. (spec 7.2) */
export const routeErrorSchema = z.looseObject({
  error: z.preprocess(asText, z.string().min(1)),
  detail: z.preprocess(asText, z.string()).optional().catch(undefined),
});

function asText(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

const text = z.string().optional().catch(undefined);

/**
 * The `output` of an image edit, read tolerantly: a field of the wrong type counts as absent. It is not specified which field
 * has a base64 result. (spec 2.6)
 */
export const imageEditOutputSchema = z.looseObject({
  /** Expires 7 days after creation. */
  image_url: text,
  /** The picture's URL under the name that some models use. */
  result: text,
  /** USD; absent if it was missing, null or not a price. */
  cost: z.number().nonnegative().optional().catch(undefined),
});

/** The `output` of an image edit; `image_url` expires 7 days after creation. (spec 2.6) */
export type ImageEditOutput = z.infer<typeof imageEditOutputSchema>;
