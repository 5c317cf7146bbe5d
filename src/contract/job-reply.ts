import * as z from 'zod';
import { isJobId } from './request-parts.js';

const jobId = z.string().refine(isJobId);
const milliseconds = z.number().nonnegative().optional().catch(undefined);

/**
 * A job as the service tells of it, tolerantly: unknown fields and states are kept, `output` is any JSON value, a
 * time that is no time counts as not reported. (spec 2.1, 2.6)
 */
export const jobReplySchema = z.looseObject({
  /** Opaque: encode it in a path, never parse it. */
  id: jobId,
  /** A state of `jobStates` or one that is not known yet. */
  status: z.string().min(1),
  /** Present before the end too, as a partial result; may be missing when COMPLETED. */
  output: z.unknown().optional(),
  /** Read it with `serviceErrorText`: a string, often itself JSON, and at times an object. */
  error: z.unknown().optional(),
  /** Milliseconds in the queue. */
  delayTime: milliseconds,
  /** Milliseconds of work. */
  executionTime: milliseconds,
});

/** A job as the service tells of it. Times in ms. (spec 2.1, 2.6) */
export type JobReply = z.infer<typeof jobReplySchema>;

/** Whether the schema would give a reply back as it is, as it does with most: it takes many times as long to say so. */
export function isJobReply(value: unknown): value is JobReply {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { id, status, delayTime, executionTime }: Partial<Record<keyof JobReply, unknown>> = value;
  return isJobId(id) && isText(status) && isTime(delayTime) && isTime(executionTime);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isTime(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value >= 0 && value < Infinity);
}

/** The answer to /run and /runsync: an id without a state is an accepted job all the same, so that its id is not lost. */
export const submissionReplySchema = jobReplySchema.extend({ status: z.string().min(1).catch('IN_QUEUE') });

/** A body that says FAILED, whatever its HTTP status; it may lack the id. (spec 7.2) */
export const failedReplySchema = jobReplySchema.extend({
  id: jobId.optional().catch(undefined),
  status: z.literal('FAILED'),
});

export type FailedReply = z.infer<typeof failedReplySchema>;
