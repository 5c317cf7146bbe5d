import { escapeFormula, unescapeFormula } from '../../batch/manifest/columns/formula-text.js';
import { csvCell } from '../../batch/manifest/quote-value.js';

/** A kept picture, as in chosen.csv. */
export interface ChosenRow {
  readonly id: string;
  readonly row: number;
  /** The path of the picture, relative to the list's folder; empty if none was saved. */
  readonly file: string;
  readonly stars?: number;
  readonly note?: string;
  readonly prompt?: string;
  /** The job that made it: a row that was bought again has several. */
  readonly jobId?: string;
  /** The row's value of each axis, by the axis' name; in columns after the others. */
  readonly axes?: Readonly<Record<string, string>>;
}

export const chosenColumns = ['id', 'row', 'file', 'stars', 'note', 'prompt', 'jobId'] as const;

/** chosen.csv: for spreadsheets, and for `millrace pick`. */
export function chosenList(rows: readonly ChosenRow[]): string {
  const axes = [...new Set(rows.flatMap((row) => Object.keys(row.axes ?? {})))];
  const lines = rows.map((row) => [
    ...chosenColumns.map((name) => String(row[name] ?? '')),
    ...axes.map((name) => row.axes?.[name] ?? ''),
  ]);
  const head = [...chosenColumns, ...axes.map(axisColumn)];
  return csvText([head, ...lines].map((cells) => cells.map(escapeFormula)));
}

const taken: ReadonlySet<string> = new Set(chosenColumns);

/** An axis with the name of another column is called `columns.NAME`, as in results.csv. */
function axisColumn(name: string): string {
  return taken.has(name) ? `columns.${name}` : name;
}

/** The axes of a line that `chosenList` wrote. */
export function chosenAxes(cells: Readonly<Record<string, string>>): Record<string, string> {
  const others = Object.entries(cells).filter(([name]) => !taken.has(name));
  return Object.fromEntries(
    others.map(([name, value]) => {
      const plain = unescapeFormula(name);
      const own = plain.replace(/^columns\./, '');
      return [taken.has(own) ? own : plain, unescapeFormula(value)];
    }),
  );
}

/** `edits.csv` → `edits.chosen.csv`, because lists of several runs may be in one download folder. */
export function chosenFileName(manifest: string): string {
  return `${manifest.replace(/\.(csv|jsonl|ndjson)(\.gz)?$/i, '')}.chosen.csv`;
}

export function csvText(lines: readonly (readonly string[])[]): string {
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}
