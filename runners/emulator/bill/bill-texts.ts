import type { Job } from '../queue/job.js';
import type { JobStore } from '../queue/job-store.js';
import type { Bill, BillLine } from './bill.js';

/** All lines of the bill as JSON texts: what is closed, then the jobs that can still change. */
export function* billTexts({ bill, jobs }: { bill: Bill; jobs: JobStore }): Iterable<string> {
  yield* bill.lines();
  for (const job of jobs.all()) yield JSON.stringify(billLine(job));
}

/** What a job would cost if it stayed as it is. */
export function billLine(job: Job): BillLine {
  const { id, endpoint, operation, input, status, executions, costMicroDollars, submittedAt } = job;
  return { id, endpoint, operation, input, status, executions, costMicroDollars, submittedAt };
}
