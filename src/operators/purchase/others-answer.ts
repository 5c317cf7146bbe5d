import { failureCodes } from '../../contract/failure-code.js';
import type { Failed } from '../../contract/outcome.js';
import { sharedIdText, type JobIds } from '../../policy/job-ids.js';
import type { WireRequest } from '../../transport/transport.js';
import type { Judged } from '../requests/exchange.js';
import { whatWasAsked } from '../requests/outcome-of.js';
import type { Order } from './job-spec.js';

/**
 * Takes the id of an answer to a POST, completed, failed or accepted. Where another job has it the POST is in doubt, and the
 * id is not kept: `unknown`. `undefined`: the answer is the POST's own, or names no job.
 */
export function othersAnswer(
  { reading }: Judged,
  { endpoint, key, purpose }: Pick<Order<unknown>, 'endpoint' | 'key' | 'purpose'>,
  { request, jobIds }: { readonly request: WireRequest; readonly jobIds: JobIds },
): Failed | undefined | Promise<Failed | undefined> {
  const jobId = reading !== undefined && 'job' in reading ? reading.job.id : undefined;
  // A requeued job keeps its id.
  if (jobId === undefined || purpose !== 'submit') return undefined;
  const doubt = (owner: string | undefined): Failed | undefined => {
    if (owner === undefined) return undefined;
    const message = `${whatWasAsked(request)}: ${sharedIdText(jobId, owner)}`;
    return { status: 'failed', code: 'unknown', paid: failureCodes.unknown.paid, message };
  };
  const owner = jobIds.claim({ endpoint, jobId, key });
  return typeof owner === 'object' ? Promise.resolve(owner).then(doubt) : doubt(owner);
}
