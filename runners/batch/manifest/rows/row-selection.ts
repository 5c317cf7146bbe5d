import type { Row } from '../manifest-row.js';
import { cellText } from '../quote-value.js';

/** The parts of a row that decide whether it is selected. An invalid row has no columns. */
export type SelectedBy = Pick<Row, 'id'> & Partial<Pick<Row, 'columns'>>;

/**
 * The rows that `only` selects by ids and `column=value`. A row must have one of the ids, and in each named column one of the
 * given values. An entry with `=` may also be an id: it then selects rows that have no such column.
 */
export class RowSelection {
  readonly #ids: ReadonlySet<string>;
  readonly #columns = new Map<string, Set<string>>();
  readonly #hasPlainIds: boolean;

  constructor(only: Iterable<string>) {
    this.#ids = new Set(only);
    for (const entry of this.#ids) {
      const pair = pairOf(entry);
      if (pair === undefined) continue;
      const [name, value] = pair;
      this.#columns.set(name, (this.#columns.get(name) ?? new Set()).add(value));
    }
    this.#hasPlainIds = [...this.#ids].some((entry) => pairOf(entry) === undefined);
  }

  has({ id, columns = {} }: SelectedBy): boolean {
    if (this.#ids.has(id) && !this.#isOther(columns)) return true;
    return !this.#hasPlainIds && this.#columns.size > 0 && this.#hasValues(columns);
  }

  /** The entries that match a row. */
  entriesOf({ id, columns }: SelectedBy): string[] {
    const pairs = [...this.#columns.keys()].map((name) => `${name}=${cellText(columns?.[name])}`);
    return [id, ...pairs].filter((entry) => this.#ids.has(entry));
  }

  entries(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Whether a row that is named by its id has none of the given values in a named column. */
  #isOther(columns: Readonly<Record<string, unknown>>): boolean {
    for (const [name, values] of this.#columns)
      if (Object.hasOwn(columns, name) && !values.has(cellText(columns[name]))) return true;
    return false;
  }

  #hasValues(columns: Readonly<Record<string, unknown>>): boolean {
    for (const [name, values] of this.#columns)
      if (!Object.hasOwn(columns, name) || !values.has(cellText(columns[name]))) return false;
    return true;
  }
}

function pairOf(entry: string): readonly [name: string, value: string] | undefined {
  const at = entry.indexOf('=');
  return at < 1 ? undefined : [entry.slice(0, at), entry.slice(at + 1)];
}

/** One sentence about entries that match no row. */
export function missingText(entries: readonly string[], shown: (text: string) => string): string {
  const ids = entries.filter((entry) => pairOf(entry) === undefined).map(shown);
  const pairs = entries.flatMap((entry) => {
    const [name, value] = pairOf(entry) ?? [];
    return name === undefined || value === undefined
      ? []
      : [`no row has the id ${shown(entry)}, or ${shown(value)} in a column ${shown(name)}`];
  });
  return [...(ids.length > 0 ? [`no row has the id ${ids.join(', ')}`] : []), ...pairs].join('; ');
}

/** Each entry is some row's, but they narrow each other down to no row: a start would do nothing, and end well. */
export const apartText =
  'each entry names a row, but no row is named by all of them together: it needs one of the ids, and in each named column one of the values';

/** The part of a manifest that `only` and `limit` select. Use one instance for each pass. */
export class SelectRows {
  private readonly only: RowSelection | undefined;
  private readonly notSeen: Set<string>;
  private isAnySeen = false;
  private left: number;

  constructor({ limit, only }: { readonly limit: number; readonly only: RowSelection | undefined }) {
    this.only = only;
    this.notSeen = new Set(only?.entries());
    this.left = limit;
  }

  /** Whether this start does the row, which is still to be done. */
  takes(row: SelectedBy): boolean {
    if (this.left === 0 || this.only?.has(row) === false) return false;
    this.left--;
    return true;
  }

  /** Call this with every row, so that `missing` can name the entries that match no row, and `areApart` holds. */
  see(row: SelectedBy): void {
    if (this.only === undefined || (this.notSeen.size === 0 && this.isAnySeen)) return;
    this.isAnySeen ||= this.only.has(row);
    for (const entry of this.only.entriesOf(row)) this.notSeen.delete(entry);
  }

  get isFull(): boolean {
    return this.left === 0;
  }

  /** Entries of `only` that match no row. */
  missing(): string[] {
    return [...this.notSeen];
  }

  /** Each entry of `only` matches a row, and no row matches all of them. */
  get areApart(): boolean {
    return this.only !== undefined && this.notSeen.size === 0 && !this.isAnySeen;
  }
}
