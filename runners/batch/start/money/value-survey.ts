import { addPrice, type MicroDollars } from '../../../../src/contract/micro-dollars.js';
import { otherValues } from '../../ledger/value-caps.js';
import { columnValue, type RowOrigin } from '../../manifest/columns/column-value.js';
import { nearMiss } from '../../manifest/columns/near-miss.js';
import type { PlannedValue } from '../../manifest/plan-tallies.js';
import { trackedColumns, type CostBy } from '../../row/totals.js';

/** What a start would buy, by the values of one column. */
export interface ColumnAhead {
  readonly column: string;
  /** The cap of each of its values over all starts, in US dollars. */
  readonly capUsd?: number;
  /** The number of different values among the rows that are sent. */
  readonly values: number;
  /** Rows that are left because a cap has no room for them. */
  readonly short: number;
  /**
   * At most twenty values: first those with rows that are left, then those with the highest cost. Rows without a value have the
   * empty text.
   */
  readonly first: readonly ValueAhead[];
}

interface ValueAhead extends PlannedValue {
  /** The part of `rows`, which are sent according to the manifest, for which the caps leave room. */
  readonly fits: number;
}

const valuesShown = 20;
const mostValues = 100_000;

/** Counts the rows that a start sends, by the values of the columns that a run adds up by. */
export class ValueSurvey {
  private readonly columns: readonly {
    readonly column: string;
    readonly values: Map<string, { -readonly [Name in keyof Omit<ValueAhead, 'value'>]: number }>;
    /** Whether a row of the manifest has a value in this column. */
    isThere: boolean;
  }[];

  constructor(private readonly costBy: CostBy) {
    this.columns = trackedColumns(costBy).map((column) => ({ column, values: new Map(), isThere: false }));
  }

  see(row: RowOrigin): void {
    for (const one of this.columns) one.isThere ||= columnValue(row, one.column) !== '';
  }

  add(row: RowOrigin, price: MicroDollars | null, fits: boolean): void {
    for (const { column, values } of this.columns) {
      const value = columnValue(row, column);
      const key = values.has(value) || values.size < mostValues ? value : otherValues;
      const sum = values.get(key) ?? { rows: 0, fits: 0, estimated: 0, unpriced: 0 };
      values.set(key, sum);
      sum.rows++;
      addPrice(sum, price);
      if (fits) sum.fits++;
    }
  }

  ahead(): readonly ColumnAhead[] {
    return this.columns.map(({ column, values }) => {
      const all = [...values].map(([value, sum]) => ({ value, ...sum }));
      const short = all.reduce((sum, { rows, fits }) => sum + rows - fits, 0);
      const isShort = ({ rows, fits }: ValueAhead): number => Number(rows > fits);
      all.sort((a, b) => isShort(b) - isShort(a) || b.estimated - a.estimated);
      const capUsd = this.costBy.capsUsd[column];
      return {
        column,
        values: values.size,
        short,
        first: all.slice(0, valuesShown),
        ...(capUsd !== undefined && { capUsd }),
      };
    });
  }

  /** One sentence for each of the `given` columns in which no row has a value. */
  missing(given: readonly string[], known: readonly string[]): string[] {
    const gone = this.columns.filter(({ column, isThere }) => !isThere && given.includes(column));
    return gone.map(({ column }) => {
      const meant = known.find((name) => nearMiss(column, [name]) !== undefined);
      const guess = meant === undefined ? '' : `: did you mean ${JSON.stringify(meant)}?`;
      return `no row has a value in the column ${JSON.stringify(column)}${guess}`;
    });
  }
}
