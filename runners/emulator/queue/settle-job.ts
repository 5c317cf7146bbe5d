import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { reportedCostUsd } from '../../../src/contract/reported-cost.js';
import { jsonText } from '../http/http-answer.js';
import { type Job, type JobEnd, jobFault } from './service-job.js';

/** Writes an end into the job: state, output, price. Only what completed costs anything. */
export function settleJob(job: Job, end: JobEnd, now: number): void {
  job.endedAt = now;
  if (end.status === 'COMPLETED') return complete(job, end.output);
  job.status = end.status;
  job.output = undefined;
  job.error = end.error;
  job.httpStatus = end.status === 'FAILED' ? end.httpStatus : undefined;
}

function complete(job: Job, result: unknown): void {
  const output = priced(job, result);
  job.costMicroDollars = toMicroDollars(reportedCostUsd(output) ?? 0);
  try {
    job.output = jobFault(job, 'no-output') ? undefined : jsonText(shown(job, output));
    job.status = 'COMPLETED';
  } catch (error) {
    job.status = 'FAILED';
    job.costMicroDollars = 0;
    job.output = undefined;
    job.error = `the function's output is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The output, its cost changed by the `price` fault. */
function priced(job: Job, output: unknown): unknown {
  const cost = reportedCostUsd(output);
  const factor = Number(jobFault(job, 'price')?.value ?? 1);
  if (cost === null || factor === 1) return output;
  return { ...(output as object), cost: Math.round(cost * factor * 1e6) / 1e6 };
}

/** The output as it is sent, which may lack its cost. */
function shown(job: Job, output: unknown): unknown {
  if (reportedCostUsd(output) === null) return output;
  if (jobFault(job, 'null-cost')) return { ...(output as object), cost: null };
  return jobFault(job, 'no-cost') ? { ...(output as object), cost: undefined } : output;
}
