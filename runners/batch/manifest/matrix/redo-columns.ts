import { parseJson } from '../parse-json.js';
import type { Row } from '../manifest-row.js';

/**
 * Columns of a redo manifest, in addition to `redo`. `axes`: the axis values that made the row,
 * `{"style":"oil","resolution":"2k"}`; it is not multiplied again. `attempt`: the number of the rejected purchase, as in the
 * `attempts` of its result.
 */
export const redoColumns = { axes: 'redo.axes', attempt: 'redo.attempt' } as const;

export function isRedoColumn(name: string): boolean {
  return name === redoColumns.axes || name === redoColumns.attempt;
}

/** Adds the axis values of a row to its columns, as they are on a row that `--each` or `--repeat` made. */
export function withRedoneAxes(columns: Record<string, unknown>): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(columns).filter(([name]) => !isRedoColumn(name)));
  const given = columns[redoColumns.axes];
  return { ...own, ...(given !== undefined && (axesIn(given) ?? { [redoColumns.axes]: given })) };
}

/** The attempt number of the purchase that the row replaces; `undefined` if it names none, as in manifests of earlier versions. */
export function rejectedAttempt({ cells }: Pick<Row, 'cells'>): number | undefined {
  const given = Number(cells[redoColumns.attempt] ?? NaN);
  return Number.isInteger(given) && given > 0 ? given : undefined;
}

function axesIn(given: unknown): Readonly<Record<string, string>> | undefined {
  const parsed = typeof given === 'string' ? parseJson(given) : { value: given };
  const found = 'value' in parsed ? parsed.value : undefined;
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined;
  const isText = Object.values(found).every((value) => typeof value === 'string');
  return isText ? (found as Record<string, string>) : undefined;
}
