import { parseJson } from './parse-json.js';

/** Most cells are plain text: a look at how they begin spares them an exception. */
const mayBeJson = /^(?:["{[\d-]|true$|false$|null$)/;

/**
 * A cell of an `input.…` or `body.…` column: JSON when it parses and prints back the same (`42`, `true`, `[1]`), else
 * text as it stands (`007`, `1e3`, `1.0`).
 */
export function cellValue(cell: string): unknown {
  if (!mayBeJson.test(cell)) return cell;
  const parsed = parseJson(cell);
  return 'value' in parsed && JSON.stringify(parsed.value) === cell ? parsed.value : cell;
}
