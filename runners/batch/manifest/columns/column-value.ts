import { createHash } from 'node:crypto';

/** What the values of a row are read from: the row, its intent in the journal, or what the journal keeps of a row that was never sent. */
export interface RowOrigin {
  readonly kind: string | null;
  readonly endpoint: string;
  readonly resolution?: string | undefined;
  readonly cells: Readonly<Record<string, unknown>>;
  /** The user's own columns. @defaultValue those among `cells` */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
}

/** Fields that every row has, whether the manifest has a column for them or not. */
export const valueFields = ['kind', 'endpoint', 'resolution'] as const;

/** Longer values are cut; they stay apart by a hash. */
const longestValue = 200;

/**
 * The value that a row has in a column: one of its own columns, a field that every row has, or any other cell of the manifest. The
 * empty string where it has none.
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
