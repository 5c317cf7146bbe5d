import type { IntentRecord, OutcomeRecord, ReplyRecord } from '../journal/record.js';

/** What the journal has of a row that has ended: all that its lines are made of. */
export interface EndedRow {
  /** Missing where nothing was ever sent or polled: an invalid row, a row held from the start. */
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
