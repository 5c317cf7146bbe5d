import { type FacetBlock, type NumberFacet, originalColumn } from '../../facets.js';

/** A column with more values than this distinguishes single rows. */
const mostValues = 60;

/** The columns of all rows, by index in manifest order. */
export class RowFacets {
  readonly #numbers: Record<NumberFacet, (number | null)[]> = { price: [], time: [], ended: [] };
  readonly #columns = new Map<string, (string | undefined)[]>();

  constructor(blocks: readonly FacetBlock[]) {
    let from = 0;
    for (const { count, numbers, columns } of blocks) {
      for (const name of ['price', 'time', 'ended'] as const)
        for (const value of numbers[name]) this.#numbers[name].push(value);
      for (const [name, values, places] of columns) {
        const all = this.#columns.get(name) ?? [];
        this.#columns.set(name, all);
        for (let row = 0; row < count; row++) all[from + row] = values[places[row] ?? -1];
      }
      from += count;
    }
  }

  number(name: NumberFacet, place: number): number | undefined {
    return this.#numbers[name][place] ?? undefined;
  }

  text(column: string, place: number): string | undefined {
    return this.#columns.get(column)?.[place];
  }

  /** The column with this name, ignoring case. */
  columnLike(name: string): string | undefined {
    return [...this.#columns.keys()].find((column) => column.toLowerCase() === name);
  }

  /** Columns that distinguish rows, each with its values, the most frequent first. */
  columns(): { name: string; values: { value: string; count: number }[] }[] {
    return [...this.#columns.keys()].flatMap((name) => {
      const values = [...this.#count(name)].map(([value, count]) => ({ value, count }));
      return name !== originalColumn && values.length > 1 && values.length <= mostValues
        ? [{ name, values: values.sort((one, other) => other.count - one.count) }]
        : [];
    });
  }

  /**
   * Columns with two or more values for some original: its rows are variants.
   *
   * @param first columns to list first, however many values they have
   */
  axes(first: readonly string[]): string[] {
    const originals = this.#columns.get(originalColumn) ?? [];
    const others = this.columns().map(({ name }) => name);
    return [...new Set([...first, ...others])].flatMap((name) => {
      const first = new Map<string, string>();
      const varies = originals.some((original, place) => {
        const value = this.text(name, place);
        if (original === undefined || value === undefined) return false;
        const known = first.get(original);
        if (known === undefined) first.set(original, value);
        return known !== undefined && known !== value;
      });
      return varies ? [name] : [];
    });
  }

  #count(column: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const value of this.#columns.get(column) ?? [])
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  }
}
