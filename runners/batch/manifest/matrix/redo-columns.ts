import { parseJson } from '../parse-json.js';
import type { Row } from '../manifest-row.js';

/**
 * Columns of the gallery's manifest beside `redo`. `axes`: what the row was made by, `{"style":"oil","resolution":"2k"}`; no option
 * multiplies it there. `attempt`: the number of the purchase that a person rejected, as `attempts` of its result has it.
 */
export const redoColumns = { axes: 'redo.axes', attempt: 'redo.attempt' } as const;

/** Whether it is one of them. */
export function isRedoColumn(name: string): boolean {
  return name === redoColumns.axes || name === redoColumns.attempt;
}

/** The columns of a row with the axes that it was made by, as a row has them that an option has made. */
export function withRedoneAxes(columns: Record<string, unknown>): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(columns).filter(([name]) => !isRedoColumn(name)));
  const given = columns[redoColumns.axes];
  return { ...own, ...(given !== undefined && (axesIn(given) ?? { [redoColumns.axes]: given })) };
}

/** The purchase that the row is to replace, by its attempt; `undefined`: it does not say, as manifests of earlier versions do not. */
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
