import { failureCodes, type FailureCode } from '../../contract/failure-code.js';
import type { FailedReply, JobReply } from '../../contract/service-replies.js';
import type { Completed, Outcome } from '../../contract/outcome.js';
import { isCharged, reportedCostUsd } from '../../contract/reported-cost.js';
import { serviceErrorText } from '../../contract/service-error-text.js';
import type { WireRequest } from '../../transport/transport.js';

/** How a job in a terminal state ended. One that did not complete and reports a cost was paid. (spec 2.1, 2.6, 3) */
export function outcomeOf(
  job: JobReply | FailedReply,
  request: Pick<WireRequest, 'method' | 'url'>,
): Outcome<unknown> {
  const { id, status, output, delayTime, executionTime } = job;
  if (status === 'COMPLETED') {
    const completed: Completed<unknown> = {
      status: 'completed',
      jobId: id,
      output,
      costUsd: reportedCostUsd(output),
    };
    if (delayTime !== undefined) completed.delayTimeMs = delayTime;
    if (executionTime !== undefined) completed.executionTimeMs = executionTime;
    return completed;
  }
  const code = isCharged(output) ? 'charged' : (codes[status] ?? 'job-failed');
  const said = serviceErrorText(job);
  return {
    status: 'failed',
    code,
    paid: failureCodes[code].paid,
    ...(id !== undefined && { jobId: id }),
    message: `${whatWasAsked(request)}: ${status}: ${said?.message ?? failureCodes[code].meaning}`,
    ...(said?.detail !== undefined && { detail: said.detail }),
    ...('output' in job && { output }),
    ...(delayTime !== undefined && { delayTimeMs: delayTime }),
    ...(executionTime !== undefined && { executionTimeMs: executionTime }),
  };
}

/** `POST /v2/echo/run`: never the host or a header. */
export function whatWasAsked({ method, url }: Pick<WireRequest, 'method' | 'url'>): string {
  return `${method} ${new URL(url).pathname}`;
}

const codes: Readonly<Record<string, FailureCode>> = {
  FAILED: 'job-failed',
  CANCELLED: 'job-cancelled',
  TIMED_OUT: 'job-timed-out',
};
