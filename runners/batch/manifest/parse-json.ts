import { lostNumbers } from '../../../src/contract/bounded-json.js';
import { quoteValue } from './quote-value.js';

const deepest = 100;

/** Why a JSON text is refused. */
export interface JsonProblem {
  readonly problem: string;
  readonly isNoJson?: true;
  /** The key of the outermost object that contains the problem, if known. */
  readonly below?: string;
}

/**
 * The value of a JSON text, or why it cannot be sent: it is nested too deep, has a number that would lose digits, or has a key
 * twice.
 */
export function parseJson(text: string): { readonly value: unknown } | JsonProblem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `is not JSON: ${reason((error as Error).message)}`, isNoJson: true };
  }
  if (typeof value !== 'object') return { value };
  const keys: string[] = [];
  const problem = walk(value, 1, keys);
  if (problem !== undefined) return { problem };
  const lost = /\d{16}/.test(text) ? lostDigits(text) : undefined;
  if (lost !== undefined)
    return { problem: `holds ${lost}, which has more digits than a number keeps: write it in quotes` };
  return wrongKey(text, keys) ?? { value };
}

/** V8's message without the quoted text, and without line and column, which count within the cell and not in the manifest. */
function reason(message: string): string {
  const words = message
    .replace(/, (\.\.\.)?".*/s, '')
    .replace(/ \(line \d+ column \d+\)$/, '')
    .slice(0, 120);
  return words.charAt(0).toLowerCase() + words.slice(1);
}

/** Collects the names of all keys in `keys`. Returns the first problem. */
function walk(value: unknown, depth: number, keys: string[]): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'holds a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > deepest) return `is nested deeper than ${deepest} levels`;
  if (!Array.isArray(value)) for (const key of Object.keys(value)) keys.push(key);
  for (const entry of Object.values(value)) {
    const problem = walk(entry, depth + 1, keys);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The first whole number of a JSON text that a JavaScript number cannot hold exactly, so that another number would be sent. */
export function lostDigits(text: string): string | undefined {
  const [lost] = lostNumbers(text);
  return lost?.digits;
}

interface WrongKey {
  readonly problem: string;
  /** The key of the outermost object that contains it; `undefined` for a key of that object itself. */
  readonly below?: string;
}

/** Matches the strings of a JSON text, with the colon after a key, and the brackets. */
const keyTokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/**
 * The first key that occurs twice in one object of a JSON text, or has half of a surrogate pair. The parser would silently keep
 * the last of two keys, and different halves become the same character in UTF-8. The text is scanned only if a key's name
 * occurs more than once or the text has escapes.
 *
 * @param keys the names of all keys in the text
 */
function wrongKey(text: string, keys: readonly string[]): WrongKey | undefined {
  if (text.includes('\\u')) return look(text);
  const hasEscapes = text.includes('\\');
  for (const key of keys) {
    const quoted = hasEscapes ? JSON.stringify(key) : `"${key}"`;
    const first = text.indexOf(quoted);
    if (first < 0 || text.includes(quoted, first + quoted.length)) return look(text);
  }
  return undefined;
}

/** Whether a text has half of a surrogate pair. */
export function hasHalfCharacter(text: string): boolean {
  return /[\ud800-\udfff]/u.test(text);
}

/** An open object or array, with its keys so far and the last of them. */
interface Open {
  readonly keys: Set<string>;
  last?: string;
}

function look(text: string): WrongKey | undefined {
  const open: Open[] = [];
  for (const { 0: token, 1: colon, index } of text.matchAll(keyTokens)) {
    if (token === '{' || token === '[') open.push({ keys: new Set() });
    else if (token === '}' || token === ']') open.pop();
    const inner = open.at(-1);
    if (colon === undefined || inner === undefined) continue;
    const key = JSON.parse(token.slice(0, -colon.length)) as string;
    if (inner.keys.has(key)) return wrong(open, `has the key ${quoteValue(key)} twice`, index);
    if (hasHalfCharacter(key))
      return wrong(open, `has a key ${quoteValue(key)} that holds half a character`, index);
    inner.keys.add(key);
    inner.last = key;
  }
  return undefined;
}

function wrong(open: readonly Open[], what: string, index: number): WrongKey {
  const path = open.slice(0, -1).flatMap(({ last }) => last ?? []);
  const where = path.length === 0 ? '' : ` in ${path.join('.').slice(0, 60)}`;
  const advice = what.endsWith('twice') ? 'leave one of them' : 'rename it';
  return {
    problem: `${what}${where} (character ${index + 1}); ${advice}`,
    ...(path[0] !== undefined && { below: path[0] }),
  };
}

/** Most cells are plain text. This finds them without the slow exception that the parser would throw for `1k` in each row. */
const mayBeJson = /^(?:["{[]|-?\d+(?:\.\d+)?(?:e[+-]\d+)?$|true$|false$|null$)/;

/**
 * The value of a cell in an `input.…` or `body.…` column: a JSON value if it prints as it was written (`42`, `true`, `[1]`),
 * otherwise text (`007`, `1e3`, `1.0`).
 */
export function cellValue(cell: string): unknown {
  if (!mayBeJson.test(cell)) return cell;
  const parsed = parseJson(cell);
  return 'value' in parsed && JSON.stringify(parsed.value) === cell ? parsed.value : cell;
}
