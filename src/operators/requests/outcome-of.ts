import { type FailureCode, failureCodes, type Paid } from '../../contract/failure-code.js';
import {
  knownState,
  type Completed,
  type Failed,
  type JobEvent,
  type Outcome,
} from '../../contract/outcome.js';
import { isCharged, reportedCostUsd } from '../../contract/micro-dollars.js';
import { serviceErrorText } from '../../contract/service-error-text.js';
import type { FailedReply, JobReply } from '../../contract/service-replies.js';
import { isSuccess } from '../../policy/may-send-again.js';
import type { WireRequest } from '../../transport/transport.js';
import type { Judged } from './exchange.js';

export type StatusEvent = Extract<JobEvent<never>, { type: 'status' }>;

/** The event of a reply about a job that has not ended. */
export function statusEvent({ status, delayTime, output }: JobReply): StatusEvent {
  // One text for all jobs in a known state, because each keeps its last event.
  const event: StatusEvent = { type: 'status', status: knownState(status) ?? status };
  if (delayTime !== undefined) event.delayTimeMs = delayTime;
  if (output !== undefined) event.partial = output;
  return event;
}

/** How a job in a terminal state ended. A job that did not complete and reports a cost was paid. (spec 2.1, 2.6, 3) */
export function outcomeOf(
  job: JobReply | FailedReply,
  request: Pick<WireRequest, 'method' | 'url'>,
): Outcome<unknown> {
  const { id, status, output, delayTime, executionTime } = job;
  if (status === 'COMPLETED') {
    const completed: Completed<unknown> = {
      status: 'completed',
      jobId: id,
      output: output ?? errorInstead(job),
      costUsd: reportedCostUsd(output),
    };
    if (delayTime !== undefined) completed.delayTimeMs = delayTime;
    if (executionTime !== undefined) completed.executionTimeMs = executionTime;
    return completed;
  }
  const code = isCharged(output) ? 'charged' : (codes[status] ?? 'job-failed');
  const reported = serviceErrorText(job);
  return {
    status: 'failed',
    code,
    paid: failureCodes[code].paid,
    ...(id !== undefined && { jobId: id }),
    message: `${whatWasAsked(request)}: ${status}: ${reported?.message ?? failureCodes[code].meaning}`,
    ...(reported?.detail !== undefined && { detail: reported.detail }),
    ...('output' in job && { output }),
    ...(delayTime !== undefined && { delayTimeMs: delayTime }),
    ...(executionTime !== undefined && { executionTimeMs: executionTime }),
  };
}

/** The error of a job that completed without an output, in place of the output: it is paid, and the error is nowhere else. */
function errorInstead({ output, error }: JobReply | FailedReply): unknown {
  return error === undefined || error === null || error === '' ? output : { error };
}

/** Method and path, such as `POST /v2/echo/run`: never the host or a header. */
export function whatWasAsked({ method, url }: Pick<WireRequest, 'method' | 'url'>): string {
  return `${method} ${new URL(url).pathname}`;
}

const codes: Readonly<Record<string, FailureCode>> = {
  FAILED: 'job-failed',
  CANCELLED: 'job-cancelled',
  TIMED_OUT: 'job-timed-out',
};

export interface FailureFacts {
  request: Pick<WireRequest, 'method' | 'url'>;
  jobId?: string | undefined;
  /** Set if it differs from what the code implies, as for a known job that can no longer be polled but may be paid for. */
  paid?: Paid;
  /** Advice for people, added to the message. */
  advice?: string | undefined;
}

/** The failure for an exchange, with the given code. If the body reports a cost, it was paid, whatever the HTTP status. */
export function failureOf(code: FailureCode, judged: Judged, facts: FailureFacts): Failed {
  const { message, code: reportedCode, ...context } = reportedBy(judged, facts.request);
  if (reportedCode === 'charged') code = reportedCode;
  const { jobId = context.jobId, paid = failureCodes[code].paid, advice } = facts;
  return {
    status: 'failed',
    ...context,
    code,
    paid,
    ...(jobId !== undefined && { jobId }),
    message: advice === undefined ? message : `${message}; ${advice}`,
  };
}

type Reported = Partial<Failed> & { message: string };

function reportedBy({ reading, fault }: Judged, request: FailureFacts['request']): Reported {
  if (fault !== undefined) return { message: fault.message };
  const httpStatus = reading.status;
  if (reading.body === 'failed') {
    const failed = outcomeOf(reading.job, request) as Failed;
    return isSuccess(httpStatus) ? failed : { ...failed, httpStatus };
  }
  if (!('error' in reading)) return { message: `${whatWasAsked(request)}: HTTP ${httpStatus}`, httpStatus };
  const { message, detail } = reading.error;
  const retryAfterMs = 'retryAfterMs' in reading ? reading.retryAfterMs : undefined;
  return {
    message,
    httpStatus,
    ...(detail !== undefined && { detail }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The answer of a load-balanced route, which is not a job, as an outcome. (spec 4.2) */
export function directAnswer(output: unknown): Completed<unknown> {
  return { status: 'completed', jobId: '', output, costUsd: reportedCostUsd(output) };
}
