import { failureCodes } from '../../contract/failure-code.js';
import type { Failed } from '../../contract/outcome.js';
import { sharedIdText, type JobIds } from '../../policy/job-ids.js';
import type { WireRequest } from '../../transport/transport.js';
import type { Judged } from '../requests/exchange.js';
import { whatWasAsked } from '../requests/outcome-of.js';
import type { JobSpec } from './job-spec.js';

/**
 * Claims the job id of an answer to a POST. Where another job has that id nobody knows what the POST bought: the result is
 * the failure `unknown`. `undefined`: the id belongs to this POST, or the answer names no job.
 */
export function othersAnswer(
  { reading }: Judged,
  { endpoint, key, purpose }: Pick<JobSpec<unknown>, 'endpoint' | 'key' | 'purpose'>,
  { request, jobIds }: { readonly request: WireRequest; readonly jobIds: JobIds },
): Failed | undefined | Promise<Failed | undefined> {
  const jobId = reading !== undefined && 'job' in reading ? reading.job.id : undefined;
  // A requeued job keeps its id.
  if (jobId === undefined || purpose !== 'submit') return undefined;
  const heldBy = (owner: string | undefined): Failed | undefined => {
    if (owner === undefined) return undefined;
    const message = `${whatWasAsked(request)}: ${sharedIdText(jobId, owner)}`;
    return { status: 'failed', code: 'unknown', paid: failureCodes.unknown.paid, message };
  };
  const owner = jobIds.claim({ endpoint, jobId, key });
  return typeof owner === 'object' ? Promise.resolve(owner).then(heldBy) : heldBy(owner);
}
