import { shellWords } from '../../batch/manifest/quote-value.js';
import type { PageRow, RunFacts } from '../page-data.js';

/** A row that a person has rejected, with what is to be different next time. */
export interface Rejection {
  /** Its number in the manifest: its place in the gallery changes as other rows end. */
  readonly row: number;
  /** The purchase that was rejected: once it has been replaced, the rejection is of the past. */
  readonly of: string;
  readonly failed: boolean;
  readonly prompt?: string;
  readonly resolution?: string;
  /** What the repeat would cost in micro-dollars; `null`: not known. */
  readonly cost: number | null;
}

export interface RejectedRow {
  readonly row: PageRow;
  readonly rejection: Rejection;
}

/** The rejected rows as a manifest, each with its changes. */
export function redoManifest(rejected: readonly RejectedRow[], format: 'csv' | 'jsonl'): string {
  const rows = rejected.map(({ row, rejection }) => cellsOf(row, rejection));
  return format === 'jsonl' ? rows.map((cells) => `${JSON.stringify(cells)}\n`).join('') : asCsv(rows);
}

/**
 * Whether a CSV says the same as the rows do. A text that a spreadsheet would take for a formula cannot stand in one
 * unchanged, and a manifest must not change what it repeats.
 */
export function fitsCsv(rejected: readonly RejectedRow[]): boolean {
  return rejected.every(
    ({ row, rejection }) =>
      !Object.values(cellsOf(row, rejection)).some((value) => /^[=+\-@\t\r]/.test(cellText(value))),
  );
}

/** The command that takes the manifest into the same folder. */
export function redoCommand(file: string, rejected: Iterable<Rejection>, run: RunFacts): string {
  const failed = [...rejected].some((rejection) => rejection.failed);
  const words = [
    'millrace',
    'run',
    file,
    '--out',
    run.folder,
    '--changed',
    'redo',
    ...(failed ? ['--retry', 'failed'] : []),
    ...run.options,
  ];
  return shellWords(...words);
}

function cellsOf(row: PageRow, rejection: Rejection): Record<string, unknown> {
  return {
    ...row.cells,
    id: row.id,
    // Names the purchase that was rejected, so that a second start with this manifest buys nothing again.
    ...(row.status === 'completed' && row.jobId !== undefined ? { redo: row.jobId } : {}),
    ...(rejection.prompt === undefined ? {} : { prompt: rejection.prompt }),
    ...(rejection.resolution === undefined ? {} : { resolution: rejection.resolution }),
  };
}

function asCsv(rows: readonly Record<string, unknown>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => cellText(row[name])))];
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
