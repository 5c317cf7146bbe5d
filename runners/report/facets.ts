import type { PageRow } from './page-data.js';

/** The values by which rows are sorted, filtered and grouped: a block of some thousand rows, column by column. The page builds it. */
export interface FacetBlock {
  readonly count: number;
  /** Micro-dollars, ms and ms since the epoch; `null` if not known. */
  readonly numbers: Readonly<Record<NumberFacet, readonly (number | null)[]>>;
  /** Each column with its values, and for each row the index of its value, or -1. Pairs, because a name may be `__proto__`. */
  readonly columns: readonly (readonly [
    name: string,
    values: readonly string[],
    places: readonly number[],
  ])[];
}

export type NumberFacet = 'price' | 'time' | 'ended';

/** The first reference picture of a row. */
export const originalColumn = 'original';

const ownNames = new Set(['id', 'kind', 'images', 'redo', 'redo.attempt']);
const longestValue = 300;
/** A column with more values than this holds free text. */
const mostValues = 2000;

export function facetsOf(rows: readonly PageRow[]): FacetBlock {
  const collector = new FacetCollector();
  for (const row of rows) collector.add(row);
  return collector.block();
}

/** Keeps only the part of each row that goes into the block. */
export class FacetCollector {
  #count = 0;
  readonly #price: (number | null)[] = [];
  readonly #time: (number | null)[] = [];
  readonly #ended: (number | null)[] = [];
  readonly #columns = new Map<string, { readonly values: Map<string, number>; readonly places: number[] }>();

  add(row: PageRow): void {
    for (const [name, value] of Object.entries(row.cells ?? {}))
      if (!ownNames.has(name)) this.#put(name, textOf(value));
    // A shortened name may belong to two pictures.
    const original = row.references[0]?.name;
    if (original !== undefined && !original.endsWith('…')) this.#put(originalColumn, original);
    this.#price.push(row.cost ?? null);
    this.#time.push(row.executionTime ?? null);
    this.#ended.push(Date.parse(row.settledAt ?? '') || null);
    this.#count++;
  }

  block(): FacetBlock {
    const columns = [...this.#columns].filter(
      ([name, { values }]) => name === originalColumn || values.size <= mostValues,
    );
    return {
      count: this.#count,
      numbers: { price: this.#price, time: this.#time, ended: this.#ended },
      columns: columns.map(([name, { values, places }]) => [
        name,
        [...values.keys()],
        Array.from({ length: this.#count }, (_, row) => places[row] ?? -1),
      ]),
    };
  }

  #put(name: string, value: string): void {
    const column = this.#columns.get(name) ?? { values: new Map<string, number>(), places: [] };
    this.#columns.set(name, column);
    const place = column.values.get(value) ?? column.values.size;
    // The values of a free-text column are not kept: the column is left out in the end.
    if (place <= mostValues || name === originalColumn) column.values.set(value, place);
    column.places[this.#count] = place;
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
