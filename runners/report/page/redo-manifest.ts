import type { PageRow, RunFacts } from '../page-data.js';
import type { Mark } from './mark.js';

export interface RejectedRow {
  readonly row: PageRow;
  readonly mark: Mark;
}

/** The rejected rows as a manifest, each with its changes. */
export function redoManifest(rejected: readonly RejectedRow[], format: 'csv' | 'jsonl'): string {
  const rows = rejected.map(({ row, mark }) => cellsOf(row, mark));
  return format === 'jsonl' ? rows.map((cells) => `${JSON.stringify(cells)}\n`).join('') : asCsv(rows);
}

/**
 * Whether a CSV says the same as the rows do. A text that a spreadsheet would take for a formula cannot stand in one
 * unchanged, and a manifest must not change what it repeats.
 */
export function fitsCsv(rejected: readonly RejectedRow[]): boolean {
  return rejected.every(
    ({ row, mark }) =>
      !Object.values(cellsOf(row, mark)).some((value) => /^[=+\-@\t\r]/.test(cellText(value))),
  );
}

/** The command that takes the manifest into the same folder. */
export function redoCommand(file: string, rejected: Iterable<Mark>, run: RunFacts): string {
  const failed = [...rejected].some((mark) => mark.failed);
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
  return words.map(quoted).join(' ');
}

function cellsOf(row: PageRow, mark: Mark): Record<string, unknown> {
  return {
    ...row.cells,
    id: row.id,
    // Names the purchase that was rejected, so that a second start with this manifest buys nothing again.
    ...(row.status === 'completed' && row.jobId !== undefined ? { redo: row.jobId } : {}),
    ...(mark.prompt === undefined ? {} : { prompt: mark.prompt }),
    ...(mark.resolution === undefined ? {} : { resolution: mark.resolution }),
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

/** As a POSIX shell takes it. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
