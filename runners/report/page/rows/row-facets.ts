import type { PageRow } from '../../page-data.js';

/** The first reference picture of a row. */
export const originalColumn = 'original';

const ownNames = new Set(['id', 'kind', 'images', 'redo', 'redo.attempt']);
const longestValue = 300;
/** A column with more values than this is left out: free text would take too much memory. */
const mostKept = 100_000;
/** A column with more values than this distinguishes single rows. */
const mostListed = 60;

type NumberFacet = 'price' | 'time' | 'ended';

interface Value {
  readonly value: string;
  count: number;
}

/** Each value is kept once: rows refer to it. */
interface Column {
  readonly values: Map<string, Value>;
  readonly ofRows: (Value | undefined)[];
}

/** The values by which rows are sorted, filtered and grouped: columns of all rows, by index in manifest order. */
export class RowFacets {
  /** Micro-dollars, ms and ms since the epoch. */
  readonly #numbers: Record<NumberFacet, (number | undefined)[]> = { price: [], time: [], ended: [] };
  readonly #columns = new Map<string, Column>();
  readonly #leftOut = new Set<string>();
  #count = 0;

  /** Adds the next row. */
  add(row: PageRow): void {
    for (const [name, value] of Object.entries(row.cells ?? {}))
      if (!ownNames.has(name)) this.#put(name, textOf(value));
    // A shortened name may belong to two pictures.
    const original = row.references[0]?.name;
    if (original !== undefined && !original.endsWith('…')) this.#put(originalColumn, original);
    this.#numbers.price.push(row.cost ?? undefined);
    this.#numbers.time.push(row.executionTime);
    this.#numbers.ended.push(Date.parse(row.settledAt ?? '') || undefined);
    this.#count++;
  }

  number(name: NumberFacet, place: number): number | undefined {
    return this.#numbers[name][place];
  }

  text(column: string, place: number): string | undefined {
    return this.#columns.get(column)?.ofRows[place]?.value;
  }

  /** The column with this name, ignoring case. */
  columnLike(name: string): string | undefined {
    return [...this.#columns.keys()].find((column) => column.toLowerCase() === name);
  }

  /** Columns that distinguish rows, each with its values, the most frequent first. */
  columns(): { name: string; values: Value[] }[] {
    return [...this.#columns].flatMap(([name, { values }]) =>
      name !== originalColumn && values.size > 1 && values.size <= mostListed
        ? [{ name, values: [...values.values()].sort((one, other) => other.count - one.count) }]
        : [],
    );
  }

  /**
   * Columns with two or more values for some original: its rows are variants.
   *
   * @param first columns to list first, however many values they have
   */
  axes(first: readonly string[]): string[] {
    const originals = this.#columns.get(originalColumn)?.ofRows ?? [];
    const others = this.columns().map(({ name }) => name);
    return [...new Set([...first, ...others])].flatMap((name) => {
      const first = new Map<string, string>();
      const varies = originals.some((one, place) => {
        const original = one?.value;
        const value = this.text(name, place);
        if (original === undefined || value === undefined) return false;
        const known = first.get(original);
        if (known === undefined) first.set(original, value);
        return known !== undefined && known !== value;
      });
      return varies ? [name] : [];
    });
  }

  #put(name: string, text: string): void {
    if (this.#leftOut.has(name)) return;
    const column = this.#columns.get(name) ?? { values: new Map<string, Value>(), ofRows: [] };
    this.#columns.set(name, column);
    const { values, ofRows } = column;
    const known = values.get(text) ?? { value: text, count: 0 };
    values.set(text, known);
    known.count++;
    ofRows[this.#count] = known;
    if (name === originalColumn || values.size <= mostKept) return;
    this.#leftOut.add(name);
    this.#columns.delete(name);
  }
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue)}… ${checkOf(text)}` : text;
}

/** Distinguishes long values with the same beginning. FNV-1a with 32 bits, because the page's other hashes are asynchronous. */
function checkOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
