import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { RowProduct } from '../manifest-row.js';

/** The rows that the axes make from those of a manifest. */
export interface PlannedMatrix {
  /** Number of lines that are multiplied. */
  readonly sources: number;
  /** Number of rows that they become. */
  readonly rows: number;
  /** Number of lines that stay one row: lines of failures.jsonl, rows to be redone, and rows that collect a job. */
  readonly alone: number;
  readonly axes: readonly PlannedAxis[];
}

export interface PlannedAxis {
  readonly name: string;
  /** In the order in which they first occur. */
  readonly values: readonly PlannedValue[];
}

export interface PlannedValue {
  readonly value: string;
  readonly rows: number;
  readonly estimated: MicroDollars;
  /** The part of `rows` to be bought at an unknown price. */
  readonly unpriced: number;
}

type Counted = { -readonly [Name in keyof PlannedValue]: PlannedValue[Name] };

/** Counts and prices the rows that axes have made, by the axes' values. */
export class AxisTally {
  readonly #axes = new Map<string, Map<string, Counted>>();
  #sources = 0;
  #rows = 0;
  #lastLine = 0;

  add({ axes }: RowProduct, line: number, price: MicroDollars | null): void {
    if (line !== this.#lastLine) this.#sources++;
    this.#lastLine = line;
    this.#rows++;
    for (const name in axes) {
      const counted = this.#counted(name, axes[name] ?? '');
      counted.rows++;
      if (price === null) counted.unpriced++;
      else counted.estimated += price;
    }
  }

  /** Returns `undefined` if no row is multiplied. @param rows number of valid rows of the manifest */
  result(rows: number): PlannedMatrix | undefined {
    if (this.#rows === 0) return undefined;
    const axes = [...this.#axes].map(([name, values]) => ({ name, values: [...values.values()] }));
    return { sources: this.#sources, rows: this.#rows, alone: rows - this.#rows, axes };
  }

  #counted(name: string, value: string): Counted {
    const values = this.#axes.get(name) ?? new Map<string, Counted>();
    this.#axes.set(name, values);
    const counted = values.get(value) ?? { value, rows: 0, estimated: 0, unpriced: 0 };
    values.set(value, counted);
    return counted;
  }
}
