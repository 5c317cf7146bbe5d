import type { RowOrigin } from '../manifest/columns/column-value.js';
import type { CostSource, JournalRecord, OutcomeRecord } from '../journal/record.js';
import type { EndStatus, StatusStep } from './row-status.js';
import type { PurchaseKind } from './totals.js';

export type RowRecord = Extract<JournalRecord, { id: string }>;

/**
 * The parts of a record that change its row's state and the money. They come from the bytes of a line, or from a record that
 * the run has just written.
 */
export interface RecordHead extends StatusStep {
  readonly why: string;
  readonly source: CostSource;
  /** NaN if it is not known. */
  readonly cost: number;
  /** NaN if it is not known. */
  readonly price: number;
  readonly statusCalls: number;
  /** The kind of purchase; `undefined` if the record does not name it. */
  readonly purchase: PurchaseKind | undefined;
  /** The source of the row's values; `undefined` if the record does not contain it. */
  readonly origin: RowOrigin | undefined;
}

/** How a record that was just written changes its row's state. */
export function stepOf(record: RowRecord): StatusStep {
  return {
    k: record.k,
    takes: (record.k === 'intent' ? record.takes : undefined) ?? '',
    end: record.k === 'outcome' ? endOfOutcome(record) : 'completed',
    to: record.k === 'reopen' ? record.to : '',
  };
}

/** The head of a record that was just written. */
export function headOf(record: RowRecord): RecordHead {
  return {
    ...stepOf(record),
    why: record.k === 'reopen' ? record.why : '',
    source: 'source' in record ? record.source : 'none',
    cost: ('cost' in record ? record.cost : null) ?? Number.NaN,
    price: ('price' in record ? record.price : null) ?? Number.NaN,
    statusCalls: record.k === 'outcome' ? record.statusCalls : 0,
    purchase: purchaseOf(record),
    origin: originOf(record),
  };
}

export function endOfOutcome(outcome: OutcomeRecord): EndStatus {
  return outcome.status === 'completed' ? outcome.status : outcome.error.code;
}

/** The row's content in a record: an intent has all of it, and so does the outcome of a row that was never sent. */
export function originOf(record: RowRecord): RowOrigin | undefined {
  if (record.k === 'intent') return record;
  if (record.k === 'outcome' && record.status === 'failed' && record.row !== undefined)
    return { ...record.row, resolution: record.resolution };
  return record.k === 'freed' && record.cells !== undefined ? { ...record, cells: record.cells } : undefined;
}

function purchaseOf(record: RowRecord): PurchaseKind | undefined {
  if (!('endpoint' in record) || record.endpoint === undefined) return undefined;
  if (record.k === 'outcome' && record.endpoint === '') return undefined;
  return { kind: record.kind ?? '', endpoint: record.endpoint, resolution: record.resolution ?? '' };
}
