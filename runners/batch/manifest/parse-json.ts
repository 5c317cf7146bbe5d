import { quoteValue } from './quote-value.js';

const deepest = 100;

/** Why a JSON text is not taken. */
export interface JsonProblem {
  readonly problem: string;
  readonly isNoJson?: true;
  /** The key of the outermost object that the problem stands below, where that is known. */
  readonly below?: string;
}

/**
 * The value of a JSON text, or why it is none that can be sent on: too deep, a number that JSON has no place for, a key
 * that stands twice.
 */
export function parseJson(text: string): { readonly value: unknown } | JsonProblem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `is no JSON: ${reason((error as Error).message)}`, isNoJson: true };
  }
  if (typeof value !== 'object') return { value };
  const problem = problemIn(value, 1) ?? lost(text);
  return problem === undefined ? (wrongKey(text, value) ?? { value }) : { problem };
}

function lost(text: string): string | undefined {
  const number = /\d{16}/.test(text) ? lostDigits(text) : undefined;
  return number && `holds ${number}, which has more digits than a number keeps: write it in quotes`;
}

/** V8's words without the text around the place, which the row has already, and without lines and columns: the manifest has its own. */
function reason(message: string): string {
  const words = message
    .replace(/, (\.\.\.)?".*/s, '')
    .replace(/ \(line \d+ column \d+\)$/, '')
    .slice(0, 120);
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function problemIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'holds a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > deepest) return `is nested deeper than ${deepest} levels`;
  for (const entry of Object.values(value)) {
    const problem = problemIn(entry, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Texts and numbers of a JSON text. */
const numberTokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The first whole number of a JSON text that has more digits than a number keeps here: another one would be sent. */
export function lostDigits(text: string): string | undefined {
  for (const [token] of text.matchAll(numberTokens))
    if (/^-?\d{16,}$/.test(token) && isLost(token)) return token;
  return undefined;
}

/** What is printed again as it was written is sent so, whatever lies between. */
function isLost(digits: string): boolean {
  const value = Number(digits);
  return String(value) !== digits && BigInt(digits) !== BigInt(value);
}

/** What is wrong with a key of a JSON text. */
interface WrongKey {
  readonly problem: string;
  /** The key of the outermost object that it stands below; `undefined`: it stands in that object itself. */
  readonly below?: string;
}

/** Texts of a JSON text with what may follow a key, and what opens and closes. */
const keyTokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/**
 * The first key that stands twice in one object of a JSON text, or is no whole Unicode text. The parser keeps the last of
 * two without a word, and two halves of characters are one text as soon as they are written as UTF-8. Only a text in which
 * a key's name comes more than once, or is spelled in escapes, is looked at twice.
 *
 * @param value what the parser makes of the text
 */
function wrongKey(text: string, value: unknown): WrongKey | undefined {
  const names: string[] = [];
  gatherKeys(value, names);
  // Without a backslash in the text no key has anything to be escaped.
  const quote = text.includes('\\') ? (name: string) => JSON.stringify(name) : (name: string) => `"${name}"`;
  const isPlain = !text.includes('\\u');
  return isPlain && names.every((name) => standsOnce(text, quote(name))) ? undefined : look(text);
}

/** Whether a text is no whole Unicode: half of a character that takes two code units stands alone in it. */
export function hasHalfCharacter(text: string): boolean {
  return /[\ud800-\udfff]/u.test(text);
}

function gatherKeys(value: unknown, names: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const entry of value) gatherKeys(entry, names);
    return;
  }
  for (const key of Object.keys(value)) {
    names.push(key);
    gatherKeys((value as Record<string, unknown>)[key], names);
  }
}

function standsOnce(text: string, quoted: string): boolean {
  const first = text.indexOf(quoted);
  return first >= 0 && !text.includes(quoted, first + quoted.length);
}

/** An object or array that is open: its keys so far, and the last of them. */
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
