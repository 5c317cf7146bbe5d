import { cellText, shellWords } from '../../../batch/manifest/quote-value.js';
import type { PageRow, RunFacts } from '../../page-data.js';
import { isFormula } from '../../../batch/manifest/columns/formula-text.js';
import { redoColumns } from '../../../batch/manifest/matrix/redo-columns.js';
import { csvText } from '../../pick/chosen-list.js';

export type Verdict = 'kept' | 'rejected';

/** A person's review of a row. */
export interface Review {
  /** Its number in the manifest; its index in the gallery changes as other rows end. */
  readonly row: number;
  /** The purchase that was reviewed. Once it is replaced, the review no longer counts. */
  readonly of: string;
  readonly failed: boolean;
  readonly verdict?: Verdict;
  /** 1 to 5. */
  readonly stars?: number;
  readonly note?: string;
  /** The changes for a redo. */
  readonly prompt?: string;
  readonly resolution?: string;
  /** The price of a redo in micro-dollars; `null` if not known. */
  readonly cost: number | null;
}

export interface RejectedRow {
  readonly row: PageRow;
  readonly review: Review;
}

/**
 * The rejected rows as a manifest, each with its changes.
 *
 * @param axes The axes of the run: the row's values of them are kept as columns.
 */
export function redoManifest(
  rejected: readonly RejectedRow[],
  format: 'csv' | 'jsonl',
  axes: readonly string[] = [],
): string {
  const rows = rejected.map(({ row, review }) => {
    const cells = cellsOf(row, review);
    const found = axesOf({ cells: { ...row.cells, ...cells } }, { axes });
    return Object.keys(found).length === 0 ? cells : { ...cells, [redoColumns.axes]: found };
  });
  return format === 'jsonl' ? rows.map((cells) => `${JSON.stringify(cells)}\n`).join('') : asCsv(rows);
}

/**
 * Whether a CSV can contain the rows unchanged, because a redo must repeat a row exactly. It cannot contain text that looks
 * like a formula to a spreadsheet.
 */
export function fitsCsv(rejected: readonly RejectedRow[]): boolean {
  return rejected.every(
    ({ row, review }) => !Object.values(cellsOf(row, review)).some((value) => isFormula(cellText(value))),
  );
}

/**
 * The command that runs the manifest in the same folder. It names the file beside the run's own manifest, because pictures are
 * relative to it; if the file is not there, `run` uses the one in Downloads.
 */
export function redoCommand(file: string, rejected: Iterable<Review>, run: RunFacts): string {
  const failed = [...rejected].some((review) => review.failed);
  const words = [
    'millrace',
    'run',
    `${run.manifestFolder}${file}`,
    '--out',
    run.folder,
    '--changed',
    'redo',
    ...(failed ? ['--retry', 'failed'] : []),
    ...run.options,
  ];
  return shellWords(...words);
}

function cellsOf(row: PageRow, review: Review): Record<string, unknown> {
  return {
    ...withoutTwice(row.cells ?? {}),
    id: row.id,
    // Names the rejected purchase, so that a second start with this manifest buys nothing again, and a start that finds a later
    // purchase asks.
    ...(row.status === 'completed' && row.jobId !== undefined ? { redo: row.jobId } : {}),
    ...(row.attempts === undefined || row.attempts === 0 ? {} : { [redoColumns.attempt]: row.attempts }),
    ...(review.prompt === undefined ? {} : { prompt: review.prompt }),
    ...(review.resolution === undefined ? {} : { resolution: review.resolution }),
  };
}

/** An axis such as `input.seed` is also in the input that was sent, and a value can be given only once. */
function withoutTwice(cells: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isTwice = (name: string): boolean =>
    (name.startsWith('input.') && 'input' in cells) || (name.startsWith('body.') && 'body' in cells);
  return Object.fromEntries(Object.entries(cells).filter(([name]) => !isTwice(name)));
}

function asCsv(rows: readonly Record<string, unknown>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return csvText([names, ...rows.map((row) => names.map((name) => cellText(row[name])))]);
}

/** The row's value of each axis of the run. */
export function axesOf(
  { cells = {} }: Pick<PageRow, 'cells'>,
  { axes }: Pick<RunFacts, 'axes'>,
): Record<string, string> {
  const found = axes.flatMap((name) => {
    const value = Object.hasOwn(cells, name) ? cells[name] : undefined;
    if (value === undefined || value === null || value === '') return [];
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)] as const];
  });
  return Object.fromEntries(found);
}
