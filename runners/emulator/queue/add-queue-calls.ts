import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import * as z from 'zod';
import { isPlainObject } from '../../../src/contract/bounded-json.js';
import type { Fault, Operation } from '../faults/fault.js';
import { type Answer, jsonAnswer, Refusal, readBody } from '../http/http-answer.js';
import { answering, type Handle } from '../http/answering.js';
import type { Call, Service } from '../service.js';
import type { EndpointQueue } from './endpoint-queue.js';
import { hasEnded, type Job, jobFault, jobReplyText, waitForJob, type JobLimits } from './service-job.js';
import { waitBoundsMs, maxRequestBytes } from '../../../src/contract/limits.js';
import { sleep, type Clock } from '../clock.js';
import { checkHttpUrl } from '../../../src/contract/request-parts.js';

/** The calls of queue-based endpoints. (spec 4.1, 4.3) */
export function addQueueCalls(app: Hono<{ Bindings: HttpBindings }>, service: Service): void {
  const on = (method: 'GET' | 'POST', path: string, operation: Operation, handle: Handle): void => {
    const requestOf = (call: Call) => ({
      operation,
      endpoint: call.req.param('endpoint') ?? '',
      ...(call.req.param('job') !== undefined && { jobId: call.req.param('job') ?? '' }),
    });
    app.on(method, `/v2/:endpoint${path}`, answering(service, requestOf, handle));
  };
  on('POST', '/run', 'run', async (call, faults) => {
    const job = await acceptJob(service, call, 'run', faults);
    if (jobFault(job, 'callback-first')) await untilCalledBack(service, job);
    return jsonAnswer(JSON.stringify({ id: job.id, status: 'IN_QUEUE' }));
  });
  on('POST', '/runsync', 'runsync', (call, faults) => runsync(service, call, faults));
  on('GET', '/status/:job', 'status', (call) => jsonAnswer(jobReplyText(jobOf(service, call))));
  on('GET', '/status-sync/:job', 'status-sync', async (call) => {
    const job = jobOf(service, call);
    await waitForJob(job, service.clock, readWait(call.req.query('wait')), () => hasEnded(job));
    return jsonAnswer(jobReplyText(job));
  });
  on('GET', '/stream/:job', 'stream', (call) => streamReply(jobOf(service, call), service.clock));
  on('POST', '/cancel/:job', 'cancel', (call) => cancel(queueOf(service, call), jobOf(service, call)));
  on('POST', '/retry/:job', 'retry', (call) => retry(queueOf(service, call), jobOf(service, call)));
  on('GET', '/health', 'health', (call) => jsonAnswer(JSON.stringify(queueOf(service, call).health())));
  on('POST', '/purge-queue', 'purge-queue', (call) =>
    jsonAnswer(JSON.stringify({ removed: queueOf(service, call).purge(), status: 'completed' })),
  );
}

/** The job ends, and its webhook is called, before /run is answered. */
async function untilCalledBack({ clock }: Service, job: Job): Promise<void> {
  await waitForJob(job, clock, defaultWaitMs, () => hasEnded(job));
  // The receiver may wait for this answer before it answers itself.
  await Promise.race([job.calledBack, sleep(clock, calledWaitMs)]);
}

async function runsync(service: Service, call: Call, faults: readonly Fault[]): Promise<Answer> {
  const waitMs = readWait(call.req.query('wait'));
  const job = await acceptJob(service, call, 'runsync', faults);
  const early = jobFault(job, 'early-runsync');
  if (early) return jsonAnswer(JSON.stringify({ id: job.id, status: early.value ?? 'IN_PROGRESS' }));
  await waitForJob(job, service.clock, waitMs, () => hasEnded(job));
  return jsonAnswer(jobReplyText(job), job.status === 'FAILED' ? (job.httpStatus ?? 200) : 200);
}

function cancel(queue: EndpointQueue, job: Job): Answer {
  const status = hasEnded(job) ? job.status : 'CANCELLED';
  queue.cancel(job);
  return jsonAnswer(JSON.stringify({ id: job.id, status }));
}

function retry(queue: EndpointQueue, job: Job): Answer {
  if (job.status !== 'FAILED' && job.status !== 'TIMED_OUT')
    throw new Refusal(400, 'the job cannot be retried', `it is ${job.status}, neither FAILED nor TIMED_OUT`);
  queue.retry(job);
  return jsonAnswer(JSON.stringify({ id: job.id, status: 'IN_QUEUE' }));
}

function queueOf(service: Service, call: Call): EndpointQueue {
  const id = call.req.param('endpoint') ?? '';
  const queue = service.queues.get(id);
  if (queue) return queue;
  throw new Refusal(404, 'endpoint not found', `there is no endpoint ${JSON.stringify(id)}`);
}

function jobOf(service: Service, call: Call): Job {
  queueOf(service, call);
  const id = call.req.param('job') ?? '';
  const job = service.jobs.find(call.req.param('endpoint') ?? '', id);
  if (job) return job;
  throw new Refusal(404, 'job not found', `there is no job ${JSON.stringify(id)}, or its time is over`);
}

/** How long /runsync and /status-sync hold a request without `wait`, in ms. */
const defaultWaitMs = 90_000;
const calledWaitMs = 250;

/**
 * Reads `?wait=`, in ms.
 * @throws Refusal 400 outside 1000–300000
 */
function readWait(text: string | undefined): number {
  if (text === undefined) return defaultWaitMs;
  const { min, max } = waitBoundsMs;
  const wait = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (wait >= min && wait <= max) return wait;
  throw new Refusal(
    400,
    'wait is out of bounds',
    `wait takes ${min} to ${max} ms, not ${JSON.stringify(text)}`,
  );
}

/** How long /stream holds a request while there is nothing to send, in ms. */
const streamHoldMs = 1_000;

/** The chunks since the last answer with chunks; each is delivered once. */
async function streamReply(job: Job, clock: Clock): Promise<Answer> {
  await waitForJob(job, clock, streamHoldMs, () => job.chunks.length > 0 || hasEnded(job));
  const chunks = job.chunks.map((chunk) => `{"output":${chunk}}`).join(',');
  job.chunks = [];
  return jsonAnswer(`{"status":"${job.status}","stream":[${chunks}]}`);
}

/**
 * Makes a job from the request's body and queues it. Ids do not come from the seeded random numbers: a job of an
 * earlier start must not be mistaken for one of this start.
 * @throws Refusal 400, 404 or 429; then there is no job
 */
async function acceptJob(
  service: Service,
  call: Call,
  operation: Job['operation'],
  faults: readonly Fault[],
): Promise<Job> {
  const endpoint = call.req.param('endpoint') ?? '';
  const queue = queueOf(service, call);
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

/** The body of /run and /runsync; unknown fields are ignored, as live services do. */
interface Submission {
  input: Record<string, unknown>;
  policy?: JobLimits | undefined;
  webhook?: string | undefined;
}

const ms = z.int().positive();

const submissionSchema: z.ZodType<Submission> = z.object({
  input: z.custom<Record<string, unknown>>(isPlainObject, 'must be an object'),
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
  throw new Refusal(400, 'invalid input format', `${where}: ${issue?.message ?? 'is not a submission'}`);
}
