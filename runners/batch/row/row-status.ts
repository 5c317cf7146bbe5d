import { failureCodes } from '../../../src/contract/failure-code.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';

/** `open`: known, and still to be done. `sent`: an intent without an answer. `replied`: paid, its picture is not saved yet. */
export type RowStatus = 'open' | 'sent' | 'accepted' | 'replied' | 'completed' | FailureCode;

/** A status in one byte. Their order holds within a process, and where it is compared: the journal has words. */
export const statuses: readonly RowStatus[] = [
  'open',
  'sent',
  'accepted',
  'replied',
  'completed',
  ...(Object.keys(failureCodes) as FailureCode[]),
];
/** The byte of each status. */
export const statusBytes = Object.fromEntries(statuses.map((status, byte) => [status, byte])) as Readonly<
  Record<RowStatus, number>
>;

export function statusOf(byte: number): RowStatus {
  return statuses[byte] ?? 'open';
}
