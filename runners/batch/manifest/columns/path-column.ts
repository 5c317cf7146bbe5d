import { isPlainObject } from '../../../../src/contract/bounded-json.js';
/** A column such as `input.style.name` or `body.code:text`. */
export interface PathColumn {
  readonly name: string;
  readonly root: 'input' | 'body';
  /** Keys from the root down. */
  readonly path: readonly string[];
  /** Whether its cell stays text even if it is JSON. */
  readonly text: boolean;
}

const mostParts = 100;
const textSuffix = ':text';

/** Reads a column's name as a path. Returns `undefined` if it is none, or a text about what is wrong with it. */
export function pathColumn(name: string): PathColumn | string | undefined {
  const root = name.startsWith('input.') ? 'input' : name.startsWith('body.') ? 'body' : undefined;
  if (root === undefined) return undefined;
  const text = name.endsWith(textSuffix);
  const path = (text ? name.slice(0, -textSuffix.length) : name).slice(root.length + 1).split('.');
  if (path.includes('')) return `has an empty part; write ${root}.<name> or ${root}.<name>.<name>`;
  if (path.includes('__proto__')) return 'has a part "__proto__"; rename it';
  if (path.length > mostParts) return `has more than ${mostParts} parts`;
  return { name, root, path, text };
}

/**
 * Sets a value below `target`, and creates the objects on the way. If another value is in the way, it changes nothing and
 * returns the problem.
 */
export function setPath(
  target: Record<string, unknown>,
  path: readonly string[],
  value: unknown,
): string | undefined {
  const [key = '', ...rest] = path;
  const there = Object.hasOwn(target, key) ? target[key] : undefined;
  if (rest.length === 0) {
    if (Object.hasOwn(target, key)) return `${key} is set by another column too`;
    target[key] = value;
    return undefined;
  }
  if (there !== undefined && !isPlainObject(there))
    return `${key} is set by another column, and is not an object`;
  const child = { ...there };
  const problem = setPath(child, rest, value);
  if (problem === undefined) target[key] = child;
  return problem;
}
