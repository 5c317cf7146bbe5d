import { createHash } from 'node:crypto';

/**
 * The source of a row's values: the row, its intent in the journal, or the facts that the journal keeps about a row that was
 * never sent.
 */
export interface RowOrigin {
  readonly kind: string | null;
  readonly endpoint: string;
  readonly resolution?: string | undefined;
  readonly cells: Readonly<Record<string, unknown>>;
  /** The user's own columns. @defaultValue those among `cells` */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
}

/** Fields that every row has, even if the manifest has no column for them. */
export const valueFields = ['kind', 'endpoint', 'resolution'] as const;

/** Longer values are cut; a hash keeps them distinct. */
const longestValue = 200;

/**
 * The value of a row in a column: a column of the user's own, a field that every row has, or any other cell of the manifest.
 * The empty string if it has none.
 */
export function columnValue(origin: RowOrigin, column: string): string {
  const field = valueFields.find((name) => name === column);
  const value = (field && origin[field]) ?? cellOf(origin.columns, column) ?? cellOf(origin.cells, column);
  const text = typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
  if (text.length <= longestValue) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return `${text.slice(0, longestValue - hash.length - 1)}~${hash}`;
}

function cellOf(cells: Readonly<Record<string, unknown>> | undefined, column: string): unknown {
  return cells !== undefined && Object.hasOwn(cells, column) ? cells[column] : undefined;
}
