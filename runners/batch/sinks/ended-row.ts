import type { IntentRecord, OutcomeRecord, ReplyRecord } from '../journal/record.js';

/** The journal's records of a row that has ended: its lines are made from them. */
export interface EndedRow {
  /** Missing if nothing was ever sent or polled: an invalid row, or one held from the start. */
  readonly intent?: IntentRecord | undefined;
  /** On a completed row. */
  readonly reply?: ReplyRecord | undefined;
  readonly outcome: OutcomeRecord;
}

/** An ISO time as it stands in files; `undefined` stays so. */
export function isoTime(at: number): string;
export function isoTime(at: number | undefined): string | undefined;
export function isoTime(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
