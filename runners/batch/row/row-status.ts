import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';

/** How a row has ended. */
export type EndStatus = 'completed' | FailureCode;

/**
 * The states of a row. `open`: known, and still to be done. `sent`: an intent without an answer. `accepted`: its job id is known.
 * `replied`: paid, its picture is not saved yet. The others are ends.
 */
export type RowStatus = UnendedStatus | EndStatus;

/** The states of a row that has not ended. */
export type UnendedStatus = 'open' | PendingStatus;

/** The states of a row whose purchase is on its way. */
export type PendingStatus = 'sent' | 'accepted' | 'replied';

/** What of a record changes the state of its row. A field says nothing in a record that has none of its name. */
export interface StatusStep {
  readonly k: 'intent' | 'refused' | 'accepted' | 'reply' | 'outcome' | 'reopen' | 'freed';
  /** Of an intent that buys nothing. */
  readonly takes: '' | 'job' | 'picture';
  /** Of an outcome. */
  readonly end: EndStatus;
  /** Of a reopening. */
  readonly to: 'poll' | 'download' | 'buy' | '';
}

/** The state that a record leads to. Only an intent without an answer can be refused. */
export function nextStatus(status: RowStatus, record: StatusStep): RowStatus {
  switch (record.k) {
    case 'intent':
      // What buys nothing waits for no answer: its job, or its picture, is known already.
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
      // It is about an earlier purchase: the row goes on as it is.
      return status;
  }
}

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

/** Whether a purchase of a row in this state is on its way. */
export function isPending(status: RowStatus): status is PendingStatus {
  return status !== 'open' && !isEnd(status);
}

/** Whether a row in this state was paid, or may have been or may yet be. */
export function mayBePaid(status: RowStatus): boolean {
  return isPending(status) || status === 'completed' || (isEnd(status) && failureCodes[status].paid !== 'no');
}

/** Whether a row in this state has ended. */
export function isEnd(status: RowStatus): status is EndStatus {
  return status === 'completed' || Object.hasOwn(failureCodes, status);
}
