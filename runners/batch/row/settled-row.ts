import type { IntentRecord, ReplyRecord } from '../journal/record.js';
import type { RowFacts } from './task.js';

/** A row that is paid for and durable, and whose picture is still to be saved. */
export interface SettledRow {
  readonly row: RowFacts;
  readonly intent: IntentRecord;
  readonly reply: ReplyRecord;
  /** POSTs over all starts. */
  readonly attempts: number;
  /** Its purchase stands in costs.csv already. */
  readonly told: boolean;
  /** Frees its slot in the fan-out: to be called by whoever takes the row over. */
  readonly free: () => void;
}
