import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';

export type EndStatus = 'completed' | FailureCode;

/**
 * The states of a row. `open`: known, and still to be done. `sent`: an intent without an answer. `accepted`: its job id
 * is known. `replied`: paid for, and its picture is not saved yet. The others are ends.
 */
export type RowStatus = UnendedStatus | EndStatus;

export type UnendedStatus = 'open' | PendingStatus;

/** The states of a row whose purchase has not ended. */
export type PendingStatus = 'sent' | 'accepted' | 'replied';

/** The parts of a record that change its row's state. A field that does not belong to the kind of record is ignored. */
export interface StatusStep {
  readonly k: 'intent' | 'refused' | 'accepted' | 'reply' | 'outcome' | 'reopen' | 'freed';
  /** For an intent that buys nothing. */
  readonly takes: '' | 'job' | 'picture';
  /** For an outcome. */
  readonly end: EndStatus;
  /** For a reopening. */
  readonly to: 'poll' | 'download' | 'buy' | '';
}

/** The state after a record. Only an intent without an answer can be refused. */
export function nextStatus(status: RowStatus, record: StatusStep): RowStatus {
  switch (record.k) {
    case 'intent':
      // An intent that buys nothing needs no answer, because the job or the picture is known already.
      return record.takes === '' ? 'sent' : record.takes === 'job' ? 'accepted' : 'replied';
    case 'refused':
      return status === 'sent' ? 'open' : status;
    case 'accepted':
      return 'accepted';
    case 'reply':
      return 'replied';
    case 'outcome':
      return record.end;
    case 'reopen':
      return record.to === 'buy' ? 'open' : record.to === 'poll' ? 'accepted' : 'replied';
    case 'freed':
      // The record is about an earlier purchase, so the row's state does not change.
      return status;
  }
}

/** The index of a status is its byte. The order may change: snapshots check it, and the journal has the words. */
export const statuses: readonly RowStatus[] = [
  'open',
  'sent',
  'accepted',
  'replied',
  'completed',
  ...(Object.keys(failureCodes) as FailureCode[]),
];
export const statusBytes = Object.fromEntries(statuses.map((status, byte) => [status, byte])) as Readonly<
  Record<RowStatus, number>
>;

export function statusOf(byte: number): RowStatus {
  return statuses[byte] ?? 'open';
}

/** Whether a row in this state has a purchase that has not ended. */
export function isPending(status: RowStatus): status is PendingStatus {
  return status !== 'open' && !isEnd(status);
}

/** Whether a row in this state was paid for, may have been, or may yet be. */
export function mayBePaid(status: RowStatus): boolean {
  return isPending(status) || status === 'completed' || (isEnd(status) && failureCodes[status].paid !== 'no');
}

export function isEnd(status: RowStatus): status is EndStatus {
  return status === 'completed' || Object.hasOwn(failureCodes, status);
}
