import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { RowProduct } from '../manifest-row.js';

/** What the axes make of the rows of a manifest. */
export interface PlannedMatrix {
  /** Rows of the manifest that are multiplied. */
  readonly sources: number;
  /** The rows that they become. */
  readonly rows: number;
  /** Rows that stay as they are: failures that are read back, rows to be done again, and rows that collect a job. */
  readonly alone: number;
  readonly axes: readonly PlannedAxis[];
}

export interface PlannedAxis {
  readonly name: string;
  /** In the order in which they first come. */
  readonly values: readonly PlannedValue[];
}

export interface PlannedValue {
  readonly value: string;
  readonly rows: number;
  readonly estimated: MicroDollars;
  /** Rows that will be bought at an unknown price. */
  readonly unpriced: number;
}

type Counted = { -readonly [Name in keyof PlannedValue]: PlannedValue[Name] };

/** Counts and prices rows that axes have made, by the values of these. */
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

  /** `undefined`: no row is multiplied. @param rows all valid rows of the manifest */
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
