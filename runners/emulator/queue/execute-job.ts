import { errorText } from '../../../src/contract/millrace-error.js';
import { type Clock, sleep } from '../clock.js';
import type { Latency } from '../settings/parse-latency.js';
import type { QueueFunction } from '../settings/user-functions.js';
import { jsonText } from '../http/http-answer.js';
import { type Job, type JobEnd, jobFault, JobStop } from './service-job.js';

export interface ExecutionNeeds {
  clock: Clock;
  latency: Latency;
  random: () => number;
}

/** Runs the function for one job, for at least the drawn latency, until it ends or is stopped. Never rejects. */
export async function executeJob(job: Job, work: QueueFunction, needs: ExecutionNeeds): Promise<JobEnd> {
  const controller = new AbortController();
  const stopped = new Promise<JobEnd>((resolve) => {
    job.stop = (reason) => {
      controller.abort(reason);
      resolve(reason instanceof JobStop ? reason.end : { status: 'FAILED', error: reason.message });
    };
  });
  const cancelTimeout = startTimeout(job, needs.clock);
  const end = await Promise.race([stopped, finish(job, work, needs, controller.signal)]);
  cancelTimeout();
  job.stop = undefined;
  return end;
}

function startTimeout(job: Job, clock: Clock): () => void {
  const limit = job.limits.executionTimeout;
  if (limit === undefined) return () => undefined;
  const error = `the job exceeded its executionTimeout of ${limit} ms`;
  return clock.after(limit, () => job.stop?.(new JobStop({ status: 'TIMED_OUT', error })));
}

async function finish(
  job: Job,
  work: QueueFunction,
  { clock, latency, random }: ExecutionNeeds,
  signal: AbortSignal,
): Promise<JobEnd> {
  const leastMs = latency.sample(random);
  const until = clock.now() + leastMs;
  try {
    const end = ordainedEnd(job) ?? (await runFunction(job, work, { clock, random, signal }));
    const left = until - clock.now();
    if (leastMs > 0 && left > 0) await sleep(clock, left, signal);
    return end;
  } catch (error) {
    return { status: 'FAILED', error: errorText(error) };
  }
}

function ordainedEnd(job: Job): JobEnd | undefined {
  const fail = jobFault(job, 'fail');
  if (fail) return { status: 'FAILED', error: fail.value ?? 'worker exited before the job was done' };
  return jobFault(job, 'timed-out') && { status: 'TIMED_OUT', error: 'executionTimeout exceeded' };
}

async function runFunction(
  job: Job,
  work: QueueFunction,
  { clock, random, signal }: { clock: Clock; random: () => number; signal: AbortSignal },
): Promise<JobEnd> {
  const context = {
    id: job.id,
    attempt: job.executions,
    signal,
    random,
    sleep: (ms: number) => sleep(clock, ms, signal),
    progress(output: unknown) {
      if (!signal.aborted) job.output = jsonText(output);
    },
  };
  try {
    const result: unknown = await work(job.input, context);
    return {
      status: 'COMPLETED',
      output: isAsyncIterable(result) ? await drain(job, result, signal) : result,
    };
  } catch (error) {
    const httpStatus = statusOf(error);
    return { status: 'FAILED', error: errorText(error), ...(httpStatus !== undefined && { httpStatus }) };
  }
}

/** Passes each yielded value to /stream at once. */
async function drain(job: Job, chunks: AsyncIterable<unknown>, signal: AbortSignal): Promise<unknown> {
  const all: unknown[] = [];
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    const next = await iterator.next();
    if (signal.aborted) {
      await iterator.return?.();
      throw signal.reason;
    }
    if (next.done === true) return (next.value as unknown) ?? all;
    all.push(next.value);
    job.chunks.push(jsonText(next.value) ?? 'null');
    for (const watcher of [...job.watchers]) watcher();
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The HTTP code that the function gave its error. */
function statusOf(error: unknown): number | undefined {
  const status: unknown = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined;
}
