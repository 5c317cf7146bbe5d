import { failureCodes, type FailureCode, type Paid } from '../../contract/failure-code.js';
import type { Failed } from '../../contract/outcome.js';
import type { WireRequest } from '../../transport/transport.js';
import type { Judged } from './exchange.js';
import { outcomeOf, whatWasAsked } from './outcome-of.js';

export interface FailureFacts {
  request: Pick<WireRequest, 'method' | 'url'>;
  jobId?: string;
  /** Where it differs from what the code says: a known job that nobody may ask for any more may be paid. */
  paid?: Paid;
  /** Said behind the message: what a person may do. */
  advice?: string;
}

/** The failure that an exchange amounts to, under the given code; a body that reports a cost was paid, whatever its HTTP status. */
export function failureOf(code: FailureCode, judged: Judged, facts: FailureFacts): Failed {
  const { message, code: saidCode, ...context } = said(judged, facts.request);
  if (saidCode === 'charged') code = saidCode;
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

type Said = Partial<Failed> & { message: string };

function said({ reading, fault }: Judged, request: FailureFacts['request']): Said {
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

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
