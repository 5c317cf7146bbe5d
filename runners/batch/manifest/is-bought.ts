import type { Row } from './row.js';

/** Whether a row is bought when it is sent: what was paid already, or may have been, is collected, fetched or held. */
export function isBought({ jobId, prior }: Pick<Row, 'jobId' | 'prior'>): boolean {
  return jobId === undefined && (prior === undefined || prior.paid === 'no');
}
