/** A column such as `input.style.name` or `body.code:text`. */
export interface PathColumn {
  readonly name: string;
  readonly root: 'input' | 'body';
  /** Keys from the root down. */
  readonly path: readonly string[];
  /** Its cell stays text, also when it is JSON. */
  readonly text: boolean;
}

const mostParts = 100;
const textMark = ':text';

/** Reads a column's name as a path; `undefined` when it is none, a text when it is a wrong one. */
export function pathColumn(name: string): PathColumn | string | undefined {
  const root = name.startsWith('input.') ? 'input' : name.startsWith('body.') ? 'body' : undefined;
  if (root === undefined) return undefined;
  const text = name.endsWith(textMark);
  const path = (text ? name.slice(0, -textMark.length) : name).slice(root.length + 1).split('.');
  if (path.includes('')) return `has an empty part; write ${root}.<name> or ${root}.<name>.<name>`;
  if (path.includes('__proto__')) return 'has a part "__proto__"; rename it';
  if (path.length > mostParts) return `has more than ${mostParts} parts`;
  return { name, root, path, text };
}
