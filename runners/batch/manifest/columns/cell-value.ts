import { parseJson } from '../parse-json.js';
import { quoteValue } from '../quote-value.js';

/** Why a cell holds no value of its field. */
export class CellProblem {
  constructor(readonly message: string) {}
}

/** The entries of an `images` cell: a list, a JSON array, or texts separated by white space or `|`. */
export function imageList(cell: unknown): readonly unknown[] | CellProblem {
  if (Array.isArray(cell)) return cell as readonly unknown[];
  if (typeof cell !== 'string') return new CellProblem(`is no list of URLs, but ${quoteValue(cell)}`);
  if (!cell.trimStart().startsWith('[')) return cell.split(/[\s|]+/).filter((image) => image !== '');
  const parsed = parseJson(cell);
  return 'problem' in parsed
    ? new CellProblem(`begins with "[", but ${parsed.problem}`)
    : (parsed.value as readonly unknown[]);
}

/** Spreadsheets write TRUE. Any other text is returned as it is, and the check refuses it. */
export function booleanCell(cell: unknown): unknown {
  if (typeof cell !== 'string') return cell;
  const text = cell.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : cell;
}

/** Most cells are plain text: their first character shows that without an exception of the parser. */
const mayBeJson = /^(?:["{[\d-]|true$|false$|null$)/;

/**
 * A cell of an `input.…` or `body.…` column: a JSON value where it parses and prints the same again (`42`, `true`, `[1]`), else
 * text (`007`, `1e3`, `1.0`).
 */
export function cellValue(cell: string): unknown {
  if (!mayBeJson.test(cell)) return cell;
  const parsed = parseJson(cell);
  return 'value' in parsed && JSON.stringify(parsed.value) === cell ? parsed.value : cell;
}
