import type * as z from 'zod';
import { parseJson, type JsonProblem } from './parse-json.js';

/**
 * The value of a JSON file that a person has written: an editor may have put a byte order mark before the text. A file that is
 * not JSON is named by line and column, and nothing of it is quoted, because it may hold a key.
 */
export function parseJsonFile(text: string): { readonly value: unknown } | JsonProblem {
  const bare = text.replace(/^\uFEFF/, '');
  const parsed = parseJson(bare);
  if (!('isNoJson' in parsed)) return parsed;
  const lines = bare.slice(0, whereJsonStops(bare)).split('\n');
  return {
    ...parsed,
    problem: `is not JSON at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`,
  };
}

/** Matches a blank; a string; a number or a word; a sign. */
const jsonToken =
  /[ \t\r\n]+|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|[{}[\],:]/y;

/** Where a text stops being JSON: the parser's own message often has no place. */
function whereJsonStops(text: string): number {
  const open: string[] = [];
  let wanted: 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more' = 'value';
  for (let at = 0; ; at = jsonToken.lastIndex) {
    jsonToken.lastIndex = at;
    const [token = '', string, word] = jsonToken.exec(text) ?? [];
    if (/^[ \t\r\n]/.test(token)) continue;
    const isClosing = token === '}' ? open.at(-1) === '{' : token === ']' && open.at(-1) === '[';
    if (isClosing && (wanted === 'more' || wanted.startsWith('first'))) {
      open.pop();
      wanted = 'more';
    } else if (wanted.endsWith('key') && string !== undefined) wanted = 'colon';
    else if (wanted === 'colon' && token === ':') wanted = 'value';
    else if (wanted === 'more' && token === ',' && open.length > 0)
      wanted = open.at(-1) === '{' ? 'key' : 'value';
    else if (wanted.endsWith('value') && (string ?? word) !== undefined) wanted = 'more';
    else if (wanted.endsWith('value') && (token === '{' || token === '[')) {
      open.push(token);
      wanted = token === '{' ? 'first key' : 'first value';
    } else return at;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'an object {…}',
  record: 'an object {…}',
  string: 'text',
  number: 'a number',
};

/** What is wrong in a JSON file, after its name and the place in it. */
export function describeIssue(issue: z.core.$ZodIssue, file: string): string {
  return `${[file, ...issue.path.map(String)].join(': ')}: ${wordsOf(issue)}`;
}

function wordsOf(issue: z.core.$ZodIssue): string {
  // A message that a schema gives itself stays.
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input'))
    return `is not ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === 'unrecognized_keys')
    return `there is no setting ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}
