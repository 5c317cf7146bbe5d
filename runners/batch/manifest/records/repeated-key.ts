/** Texts of a JSON text with what may follow a key, and what opens and closes. */
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/**
 * The first key that stands twice in the object of a JSON text that holds `names`: the parser keeps the last of them
 * without a word. Only a text in which a key's name comes more than once, or is spelled in escapes, is looked at twice.
 */
export function repeatedKey(text: string, names: readonly string[]): string | undefined {
  // Without a backslash in the text no key has anything to be escaped.
  const quote = text.includes('\\') ? (name: string) => JSON.stringify(name) : (name: string) => `"${name}"`;
  const isPlain = !text.includes('\\u');
  if (isPlain && names.every((name) => standsOnce(text, quote(name)))) return undefined;
  const seen = new Set<string>();
  let depth = 0;
  for (const [token, colon] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (colon === undefined || depth !== 1) continue;
    const key = JSON.parse(token.slice(0, -colon.length)) as string;
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
}

function standsOnce(text: string, quoted: string): boolean {
  const first = text.indexOf(quoted);
  return first >= 0 && !text.includes(quoted, first + quoted.length);
}
