import { toUsd } from '../../../src/contract/micro-dollars.js';
import type { OutcomeRecord, RecordOf } from '../journal/record.js';
import { csvLine, isoTime } from './line-text.js';

export const costColumns = [
  'id',
  'row',
  'attempt',
  'jobId',
  'endpoint',
  'resolution',
  'cost',
  'source',
  'settledAt',
] as const;

/** Columns that the run adds up by: those that every line has already are left out. */
export function costValueColumns(columns: readonly string[]): string[] {
  return columns.filter((column) => column !== 'endpoint' && column !== 'resolution');
}

/** The header of costs.csv. A column whose name is taken stands behind `columns.`. */
export function costHeader(valueColumns: readonly string[]): string {
  const taken: readonly string[] = costColumns;
  return csvLine([
    ...costColumns,
    ...valueColumns.map((name) => (taken.includes(name) ? `columns.${name}` : name)),
  ]);
}

/**
 * The line of costs.csv for the purchase that ended with this outcome; `undefined` if none did. An empty cost: it was not
 * reported, and no price is known.
 *
 * @param values of the row, in the columns that the run adds up by
 */
export function costLine(
  { id, cost, source, purchase }: OutcomeRecord,
  values: readonly string[] = [],
): string | undefined {
  if (purchase === undefined || source === 'none') return undefined;
  if (source === 'unknown' && purchase.held) return undefined;
  const { row, attempt, jobId, endpoint, resolution, settledAt } = purchase;
  const usd = cost === null ? undefined : toUsd(cost);
  const named = [id, row, attempt, jobId, endpoint, resolution];
  return csvLine([...named, usd, source, isoTime(settledAt), ...values]);
}

/** The same of a purchase on which a person has decided after its row was bought again; `undefined`: it was never made. */
export function freedLine(freed: RecordOf<'freed'>, values: readonly string[] = []): string | undefined {
  const { id, row, attempt, jobId, endpoint, resolution, cost, source, at } = freed;
  if (source === 'none') return undefined;
  const usd = cost === null ? undefined : toUsd(cost);
  return csvLine([id, row, attempt, jobId, endpoint, resolution, usd, source, isoTime(at), ...values]);
}

/** A purchase that is held, as costs.csv names it. A POST whose job was found later has a line without that job, and maybe one with it. */
export interface HeldPurchase {
  readonly ofAttempt: string;
  readonly ofJob: string;
}

/** Two purchases of one row differ in their attempt. */
export function purchaseKey(id: string, attempt: number): string {
  return `${csvLine([id]).slice(0, -1)},${attempt}`;
}

/** The same, where the job was known then, or was not. */
export function jobKey(id: string, attempt: number, jobId: string | undefined): string {
  return `${purchaseKey(id, attempt)},${csvLine([jobId]).slice(0, -1)}`;
}

const cell = '(?:"(?:[^"]|"")*"|[^,"]*)';
const heldLine = new RegExp(`^(${cell}),\\d+,(\\d+),(${cell}),(?:${cell},){3}unknown,`);

/** The purchase of a line of costs.csv that is held as unknown; `undefined` for any other line. */
export function heldPurchase(line: string): HeldPurchase | undefined {
  const [, id, attempt, jobId] = heldLine.exec(line) ?? [];
  if (attempt === undefined) return undefined;
  const ofAttempt = `${id},${attempt}`;
  return { ofAttempt, ofJob: `${ofAttempt},${jobId}` };
}
