import type { Row } from './row.js';

/** Whether a row is bought when it is sent: a read is free, and what was paid already, or may have been, is collected, fetched or held. */
export function isBought(row: Pick<Row, 'jobId' | 'prior' | 'request'>): boolean {
  const { jobId, prior } = row;
  return jobId === undefined && (prior === undefined || prior.paid === 'no') && !isRead(row);
}

/** Whether a request is free to repeat: it buys nothing. */
export function isRead({ request }: Pick<Row, 'request'>): boolean {
  return request.kind === 'route' && request.method === 'GET';
}
