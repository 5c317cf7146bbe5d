import { type MicroDollars, toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { columnValue, type RowOrigin } from '../manifest/columns/column-value.js';

export interface CappedValue {
  readonly column: string;
  readonly value: string;
  readonly cap: MicroDollars;
  /** The money reserved, spent and unknown for its rows. */
  readonly taken: MicroDollars;
}

/** A cap, named by the option that sets it. */
export interface ReachedCap {
  readonly option: 'max-cost' | 'max-cost-per-day' | 'max-cost-by';
  readonly usd: number;
  /** The column whose values have this cap. */
  readonly column?: string;
}

export function cappedValueText({ column, value }: Pick<CappedValue, 'column' | 'value'>): string {
  return `${column} ${value === '' ? '(none)' : JSON.stringify(value)}`;
}

export interface ValueCapsOptions {
  /** The cap of each value of a column, by column, in US dollars. */
  readonly capsUsd: Readonly<Record<string, number>>;
  /** Money reserved, spent and unknown by earlier starts, by column and value. @defaultValue nothing */
  readonly taken?: ReadonlyMap<string, ReadonlyMap<string, MicroDollars>>;
}

/** Stands for all values that are not counted separately. It occurs in no manifest. */
export const otherValues = '\0';
/**
 * At most this many values of a column are counted separately. The money of further values counts against every value,
 * so that no cap is exceeded.
 */
const mostValues = 100_000;

/** The caps of the values of columns, and the money reserved, spent and unknown for each value. */
export class ValueCaps {
  private readonly columns: readonly {
    readonly column: string;
    readonly cap: MicroDollars;
    readonly taken: Map<string, MicroDollars>;
  }[];

  constructor({ capsUsd, taken }: ValueCapsOptions) {
    this.columns = Object.entries(capsUsd).map(([column, usd]) => ({
      column,
      cap: toMicroDollars(usd),
      taken: new Map(taken?.get(column)),
    }));
  }

  valuesOf(row: RowOrigin): readonly string[] {
    return this.columns.map(({ column }) => columnValue(row, column));
  }

  /**
   * The first of these values whose cap leaves no room for the price. A price that is not known never fits.
   *
   * @param takenFor the money taken for a value of the column at this index, if the caller knows it from elsewhere
   */
  full(
    values: readonly string[],
    price: MicroDollars | null,
    takenFor = (place: number, value: string): MicroDollars => this.takenFor(place, value),
  ): CappedValue | undefined {
    for (const [place, { column, cap }] of this.columns.entries()) {
      const value = values[place] ?? '';
      const before = takenFor(place, value);
      if (price === null || before + price > cap) return { column, value, cap, taken: before };
    }
    return undefined;
  }

  /** The values of a row in the columns that have a cap, with the money taken for each. */
  takenBy(row: RowOrigin): readonly CappedValue[] {
    return this.columns.map(({ column, cap }, place) => {
      const value = columnValue(row, column);
      return { column, value, cap, taken: this.takenFor(place, value) };
    });
  }

  private takenFor(place: number, value: string): MicroDollars {
    const taken = this.columns[place]?.taken;
    const others = value === otherValues ? 0 : (taken?.get(otherValues) ?? 0);
    return (taken?.get(value) ?? 0) + others;
  }

  /** Adds `amount` to the money taken for these values; a negative amount gives it back. */
  add(values: readonly string[], amount: MicroDollars): void {
    if (amount === 0) return;
    for (const [place, { taken }] of this.columns.entries()) {
      const value = values[place] ?? '';
      const key = taken.has(value) || taken.size < mostValues ? value : otherValues;
      taken.set(key, (taken.get(key) ?? 0) + amount);
    }
  }
}
