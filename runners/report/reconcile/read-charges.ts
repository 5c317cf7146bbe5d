import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Disk } from '../../batch/disk/disk.js';
import { readCsv } from '../read/read-csv.js';
import { parseAmount } from './parse-amount.js';
import { statementColumns, type FoundColumns, type StatementColumns } from './statement-columns.js';

/** What a billing export charges for one job; several lines of one job are one charge. */
export interface Charge {
  readonly jobId: string;
  /** Of the export, from 1; the header counts. */
  readonly lines: readonly number[];
  readonly amount: MicroDollars;
  /** Of its first line that tells one, ms since the epoch. */
  readonly at?: number;
}

/**
 * Reads a billing export.
 *
 * @throws {MillraceError} `statement` where it is empty or a line has no amount, `statement-columns` where a column is missing
 */
export async function readCharges(
  disk: Disk,
  path: string,
  told: StatementColumns,
): Promise<Map<string, Charge>> {
  const charges = new Map<string, Charge>();
  let columns: FoundColumns | undefined;
  const refuse = (line: number): never => {
    throw new MillraceError('statement', `${path}, line ${line}: a quote is opened that nothing closes`);
  };
  for await (const { line, cells } of readCsv(disk, path, refuse)) {
    columns ??= statementColumns(path, Object.keys(cells), told);
    const amount = parseAmount(cells[columns.amount] ?? '');
    if (amount === undefined) throw noAmount(path, line, columns.amount, cells[columns.amount] ?? '');
    const jobId = (cells[columns.job] ?? '').trim();
    const before = charges.get(jobId);
    const at = before?.at ?? timeOf(columns.time === undefined ? '' : (cells[columns.time] ?? ''));
    charges.set(jobId, {
      jobId,
      lines: [...(before?.lines ?? []), line],
      amount: (before?.amount ?? 0) + amount,
      ...(at !== undefined && { at }),
    });
  }
  if (columns === undefined) throw new MillraceError('statement', `${path} holds no charges`);
  return charges;
}

function noAmount(path: string, line: number, column: string, cell: string): MillraceError {
  const what = cell.trim() === '' ? 'the amount is empty' : `"${cell.slice(0, 60)}" is no amount`;
  return new MillraceError('statement', `${path}, line ${line}, column "${column}": ${what}`);
}

/** Also of bare seconds or milliseconds since the epoch. */
function timeOf(cell: string): number | undefined {
  const text = cell.trim();
  const at = /^\d{10}(?:\.\d+)?$/.test(text)
    ? Number(text) * 1000
    : /^\d{13}$/.test(text)
      ? Number(text)
      : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
