import { parseJson } from '../parse-json.js';

/** A column of the gallery's manifest: the axes that a row was made by, `{"style":"oil","resolution":"2k"}`. No option multiplies it there. */
export const redoneAxes = 'redo.axes';

/** The columns of a row with the axes that it was made by, as a row has them that an option has made. */
export function withRedoneAxes(columns: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(columns, redoneAxes)) return columns;
  const { [redoneAxes]: given, ...own } = columns;
  const axes = axesIn(given);
  return axes === undefined ? columns : { ...own, ...axes };
}

function axesIn(given: unknown): Readonly<Record<string, string>> | undefined {
  const parsed = typeof given === 'string' ? parseJson(given) : { value: given };
  const found = 'value' in parsed ? parsed.value : undefined;
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined;
  const isText = Object.values(found).every((value) => typeof value === 'string');
  return isText ? (found as Record<string, string>) : undefined;
}
