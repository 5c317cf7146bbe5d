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

/** The columns by which the run adds up costs, without those that every line has anyway. */
export function costValueColumns(columns: readonly string[]): string[] {
  return columns.filter((column) => column !== 'endpoint' && column !== 'resolution');
}

/** The header of costs.csv. A column whose name is taken is called `columns.<name>`. */
export function costHeader(valueColumns: readonly string[]): string {
  const taken: readonly string[] = costColumns;
  return csvLine([
    ...costColumns,
    ...valueColumns.map((name) => (taken.includes(name) ? `columns.${name}` : name)),
  ]);
}

/**
 * The line of costs.csv for the purchase that ended with this outcome; `undefined` if none did. An empty cost means
 * that none was reported and no price is known.
 *
 * @param values the row's values in the columns by which the run adds up costs
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

/** The line for a purchase that was settled by hand after its row was bought again; `undefined` if it was never made. */
export function freedLine(freed: RecordOf<'freed'>, values: readonly string[] = []): string | undefined {
  const { id, row, attempt, jobId, endpoint, resolution, cost, source, at } = freed;
  if (source === 'none') return undefined;
  const usd = cost === null ? undefined : toUsd(cost);
  return csvLine([id, row, attempt, jobId, endpoint, resolution, usd, source, isoTime(at), ...values]);
}

/**
 * The parts of a line in costs.csv that identify a held purchase. A POST whose job was found later has a line without the job
 * id, and possibly one with it.
 */
export interface HeldPurchase {
  readonly ofAttempt: string;
  readonly ofJob: string;
}

/** The start of the key of a purchase: two purchases of one row differ in their attempt. */
export function purchaseKey(id: string, attempt: number): string {
  return `${csvLine([id]).slice(0, -1)},${attempt}`;
}

/** The same key with the job id, which is empty if the job was not known then. */
export function jobKey(id: string, attempt: number, jobId: string | undefined): string {
  return `${purchaseKey(id, attempt)},${csvLine([jobId]).slice(0, -1)}`;
}

const cell = '(?:"(?:[^"]|"")*"|[^,"]*)';
const heldLine = new RegExp(`^(${cell}),\\d+,(\\d+),(${cell}),(?:${cell},){3}unknown,`);

/** The purchase of a line of costs.csv whose source is `unknown`; `undefined` for any other line. */
export function heldPurchase(line: string): HeldPurchase | undefined {
  const [, id, attempt, jobId] = heldLine.exec(line) ?? [];
  if (attempt === undefined) return undefined;
  const ofAttempt = `${id},${attempt}`;
  return { ofAttempt, ofJob: `${ofAttempt},${jobId}` };
}
