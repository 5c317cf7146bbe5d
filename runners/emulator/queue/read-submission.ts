import * as z from 'zod';
import { checkHttpUrl } from '../../../src/contract/request-parts.js';
import { Refusal } from '../http/refusal.js';
import type { JobLimits } from './job.js';

/** The body of /run and /runsync; further fields are ignored, as live services do. */
export interface Submission {
  input: Record<string, unknown>;
  policy?: JobLimits | undefined;
  webhook?: string | undefined;
}

const ms = z.int().positive();
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const submissionSchema: z.ZodType<Submission> = z.object({
  input: z.custom<Record<string, unknown>>(isObject, 'must be an object'),
  policy: z
    .object({ executionTimeout: ms.optional(), ttl: ms.optional(), lowPriority: z.boolean().optional() })
    .optional(),
  webhook: z
    .string()
    .refine((url) => checkHttpUrl(url) === undefined, 'must be an http or https URL')
    .optional(),
});

/**
 * Checks the body of a submission. (spec 2.2)
 * @throws Refusal 400 that names the field
 */
export function readSubmission(body: unknown): Submission {
  const read = submissionSchema.safeParse(body);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? 'the body' : issue.path.join('.');
  throw new Refusal(400, 'invalid input format', `${where}: ${issue?.message ?? 'is no submission'}`);
}
