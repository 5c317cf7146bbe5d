import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { maxRequestBytes } from '../../../src/contract/limits.js';
import type { Fault } from '../faults/fault.js';
import { readBody } from '../http/read-body.js';
import { Refusal } from '../http/http-answer.js';
import type { Call, Service } from '../service.js';
import type { Job, JobLimits } from './service-job.js';
import { checkHttpUrl } from '../../../src/contract/request-parts.js';

/**
 * Makes a job of the request's body and puts it into its queue. Ids are never of the seeded chance: a job of an earlier
 * start must not be taken for one of this.
 * @throws Refusal 404, 400, 429; then there is no job
 */
export async function acceptJob(
  service: Service,
  call: Call,
  operation: Job['operation'],
  faults: readonly Fault[],
): Promise<Job> {
  const endpoint = call.req.param('endpoint') ?? '';
  const queue = service.queues.get(endpoint);
  if (!queue)
    throw new Refusal(404, 'endpoint not found', `there is no endpoint ${JSON.stringify(endpoint)}`);
  const { value, bytes } = await readBody(call.env.incoming, maxRequestBytes[operation]);
  const submission = readSubmission(value);
  if (queue.health().jobs.inQueue >= service.maxQueued)
    throw new Refusal(429, 'too many requests', `more than ${service.maxQueued} jobs are queued`);
  const job: Job = {
    id: operation === 'run' ? `${randomUUID()}-u1` : `sync-${randomUUID()}-e1`,
    endpoint,
    operation,
    input: submission.input,
    bytes,
    limits: submission.policy ?? {},
    webhook: submission.webhook,
    faults,
    status: 'IN_QUEUE',
    submittedAt: service.clock.now(),
    executions: 0,
    costMicroDollars: 0,
    chunks: [],
    watchers: new Set(),
  };
  queue.submit(job);
  return job;
}

/** The body of /run and /runsync; further fields are ignored, as live services do. */
interface Submission {
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
function readSubmission(body: unknown): Submission {
  const read = submissionSchema.safeParse(body);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? 'the body' : issue.path.join('.');
  throw new Refusal(400, 'invalid input format', `${where}: ${issue?.message ?? 'is no submission'}`);
}
