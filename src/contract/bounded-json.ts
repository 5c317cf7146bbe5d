/** A value that is nested deeper is kept as its raw text, because printing it would overflow the stack. */
export const maxJsonDepth = 1_000;

/** `undefined` if the text is not JSON. The value is boxed, because it may be `null`. */
export type Json = { readonly value: unknown } | undefined;

/**
 * Parses JSON of any depth. If a value at level `cutAt` (1: the whole, 2: a field of it) makes the whole deeper than 1,000
 * levels, its raw text takes its place.
 *
 * @param hasExactNumbers the text of a number that would become another one takes its place, too: of a whole number of more
 *   digits than a JavaScript number keeps, such as a seed or an id of 64 bits, and of a number beyond its range
 */
export function parseJson(text: string, cutAt: number, hasExactNumbers = false): Json {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const bounded = mayBeDeep(json) ? withRawText(json, cutAt) : json;
  if (bounded === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(bounded);
    // Parsed before, because a text that is no JSON may become some by it.
    const exact = hasExactNumbers ? withExactNumbers(bounded) : bounded;
    return { value: exact === bounded ? value : (JSON.parse(exact) as unknown) };
  } catch {
    return undefined;
  }
}

/** A text without a match has no number that would become another one. */
const mayLoseDigits = /\d{16}|\d[eE]\+?\d{3}/;

/**
 * The numbers of a JSON text that JSON.parse makes others of, with their places. Strings are skipped by a search and not by an
 * expression, which would need too much memory for millions of escapes.
 */
export function* lostNumbers(text: string): Generator<{ readonly at: number; readonly digits: string }> {
  if (!mayLoseDigits.test(text)) return;
  const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) === quote) at = endOfString(text, at);
    number.lastIndex = at;
    const [digits] = number.exec(text) ?? [];
    if (digits === undefined) continue;
    if (losesDigits(digits)) yield { at, digits };
    at += digits.length - 1;
  }
}

/** A valid JSON text with each number that would become another one as a string. */
function withExactNumbers(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (const { at, digits } of lostNumbers(text)) {
    parts.push(text.slice(copied, at), `"${digits}"`);
    copied = at + digits.length;
  }
  return parts.join('') + text.slice(copied);
}

/** Whether JSON.parse makes another number of this one: a whole number that loses digits, or one that is too large. */
function losesDigits(number: string): boolean {
  if (!/^-?[1-9]\d{15,}$/.test(number)) return !Number.isFinite(Number(number));
  const value = Number(number);
  return String(value) !== number && (!Number.isFinite(value) || BigInt(number) !== BigInt(value));
}

/** Whether there are enough brackets for a deep value. Counting them takes a fraction of the time of parsing. */
function mayBeDeep(text: string): boolean {
  if (text.length < 2 * maxJsonDepth) return false;
  let count = 0;
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (++count > maxJsonDepth) return true;
  return false;
}

/** The text with each value that is too deep as a string; `undefined` if its brackets do not close. */
function withRawText(text: string, cutAt: number): string | undefined {
  const parts: string[] = [];
  let [depth, deepest, start, copied] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBracket || code === openBrace) {
      if (++depth === cutAt) [start, deepest] = [at, depth];
      else if (depth > deepest) deepest = depth;
    } else if (code === closeBracket || code === closeBrace) {
      if (depth-- !== cutAt || deepest <= maxJsonDepth) continue;
      parts.push(text.slice(copied, start), JSON.stringify(text.slice(start, at + 1)));
      copied = at + 1;
    }
  }
  if (depth !== 0) return undefined;
  return parts.length === 0 ? text : parts.join('') + text.slice(copied);
}

const [quote, openBracket, closeBracket, openBrace, closeBrace] = [34, 91, 93, 123, 125];

/** The index of the closing quote; the length of the text if there is none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
