import { randomUUID } from 'node:crypto';
import { maxRequestBytes } from '../../../src/contract/limits.js';
import type { Fault } from '../faults/fault.js';
import { readBody } from '../http/read-body.js';
import { Refusal } from '../http/refusal.js';
import type { Call, Service } from '../service.js';
import { readSubmission } from './read-submission.js';
import type { Job } from './job.js';

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
