import * as z from 'zod';
import { isPlainObject } from './bounded-json.js';
import { checkHttpUrl } from './request-parts.js';

// Not in request-parts.ts, which the page of a report uses: zod would double the page's script.

const milliseconds = z.int().positive();

/** Limits that live services accept beside `input`. Durations in ms. */
export const jobPolicySchema = z.strictObject({
  /** The worker is stopped after this long. */
  executionTimeout: milliseconds.optional(),
  /** The job is dropped this long after its submission, whatever its state. */
  ttl: milliseconds.optional(),
  lowPriority: z.boolean().optional(),
});

/** The body of /run and /runsync. Spec 2.2 has only `input`; live services accept the rest as well. */
export const queueRequestSchema = z.strictObject({
  input: z.custom<Record<string, unknown>>(isPlainObject, 'is not an object'),
  policy: jobPolicySchema.optional(),
  webhook: z
    .string()
    .refine((url) => checkHttpUrl(url) === undefined, 'is not an http or https URL')
    .optional(),
});

export type QueueRequest = z.infer<typeof queueRequestSchema>;
