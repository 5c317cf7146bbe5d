import { firstOf } from '../quote-value.js';
import { nearMiss } from './near-miss.js';
import { CellProblem } from './manifest-fields.js';

/** A text with placeholders for the cells of a row: `{{style}} portrait of {{subject|a stranger}}`. */
export interface Template {
  readonly parts: readonly (string | Place)[];
}

interface Place {
  /** The column, or a key below it: `subject.name`. */
  readonly name: string;
  /** The text to use if the cell is empty. */
  readonly otherwise?: string;
}

/** The columns of a row by name. */
export interface NamedValues {
  readonly names: readonly string[];
  /** Returns `undefined` if there is no such column. */
  readonly valueOf: (name: string) => { readonly value: unknown } | undefined;
  /** Whether every row has these columns. If not, a row may lack a column that others have. */
  readonly areOfAll: boolean;
}

/** `\{{` means a literal `{{`, and two backslashes before a placeholder mean one. */
const tokens = /\\\\(?=\{\{)|\\\{\{|\{\{([^{}]*)\}\}|\{\{/g;

/** Parses a text. Returns the literal text if it has no placeholders, or a `CellProblem` if it is not valid. */
export function parseTemplate(text: string): Template | string | CellProblem {
  const parts: (string | Place)[] = [];
  let [plain, from] = ['', 0];
  for (const { 0: token, 1: inner, index } of text.matchAll(tokens)) {
    plain += text.slice(from, index);
    from = index + token.length;
    if (token.startsWith('\\')) plain += token === '\\{{' ? '{{' : '\\';
    else {
      const place = placeOf(inner);
      if (place === undefined)
        return new CellProblem(
          `the {{ at character ${index + 1} names no column: write {{name}}, or \\{{ for the text itself`,
        );
      parts.push(plain, place);
      plain = '';
    }
  }
  plain += text.slice(from);
  return parts.length === 0 ? plain : { parts: [...parts, plain].filter((part) => part !== '') };
}

function placeOf(inner: string | undefined): Place | undefined {
  if (inner === undefined) return undefined;
  const bar = inner.indexOf('|');
  const name = (bar < 0 ? inner : inner.slice(0, bar)).trim();
  if (name === '') return undefined;
  return bar < 0 ? { name } : { name, otherwise: inner.slice(bar + 1).trim() };
}

export function namesIn({ parts }: Template): string[] {
  return parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
}

/**
 * Fills a template with the cells of a row. A template that is one placeholder gives the cell's value itself, which may be a
 * list or number in JSONL.
 */
export function fillTemplate({ parts }: Template, row: NamedValues): unknown {
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'object') return valueAt(only, row);
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : valueAt(part, row);
    if (value instanceof CellProblem) return value;
    if (typeof value === 'object' && typeof part === 'object')
      return new CellProblem(
        `{{${part.name}}} is ${Array.isArray(value) ? 'a list' : 'an object'}, which cannot stand within a text`,
      );
    text += String(value);
    if (text.length > longest) return new CellProblem('is longer than 10 MB when it is filled in');
  }
  return text;
}

const longest = 10_000_000;

function valueAt({ name, otherwise }: Place, row: NamedValues): unknown {
  const found = find(name, row);
  const meant = found === undefined ? nearMiss(name, row.names) : undefined;
  if (found === undefined && (meant !== undefined || row.areOfAll || otherwise === undefined))
    return new CellProblem(`{{${name}}} names no column of this row; ${guess(meant, row.names)}`);
  const value = found?.value;
  if (value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === ''))
    return value;
  if (otherwise !== undefined) return otherwise;
  return new CellProblem(`{{${name}}} is empty in this row; give a default with {{${name}|text}}`);
}

function find(name: string, row: NamedValues): { readonly value: unknown } | undefined {
  const found = row.valueOf(name);
  if (found !== undefined) return found;
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const above = row.valueOf(name.slice(0, dot));
    const below = above && entryAt(above.value, name.slice(dot + 1).split('.'));
    if (below !== undefined) return below;
  }
  return undefined;
}

/** The value at these keys, one below the other. */
export function entryAt(value: unknown, keys: readonly string[]): { readonly value: unknown } | undefined {
  let at = value;
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return { value: at };
}

const namesShown = 10;

function guess(meant: string | undefined, names: readonly string[]): string {
  if (meant !== undefined) return `did you mean {{${meant}}}?`;
  const shown = names.slice(0, namesShown);
  return names.length === 0 ? 'it has none' : `there are ${firstOf(shown, names.length)}`;
}
