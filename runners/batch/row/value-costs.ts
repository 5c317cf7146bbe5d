import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { addRows, endedMoney } from './accounts.js';
import { bookings } from './row-books.js';
import { isEnd, statuses } from './row-status.js';
import type { Account, KeptTally, MoneyTotals } from './totals.js';

/** The costs of the rows with one value of a column, and how these rows ended. */
export interface ValueCosts extends MoneyTotals {
  /** Money reserved, spent and held for them: the sum that a cap of the value limits. */
  readonly taken: MicroDollars;
  /** The part of `taken` for rows in flight. */
  readonly reserved: MicroDollars;
  readonly rows: Readonly<Record<'completed' | 'failed' | 'unknown' | 'download', number>>;
}

/** The sums of a tally by the values of each of its columns. Rows without a value have the empty text. */
export function costsByValue({
  columns,
  accounts,
}: Pick<KeptTally, 'columns' | 'accounts'>): ReadonlyMap<string, ReadonlyMap<string, ValueCosts>> {
  return new Map(columns.map((column, place) => [column, costsOfColumn(accounts, place)]));
}

/**
 * The money reserved, spent and unknown, by column and value.
 *
 * @param amountOf which amount is wanted. @defaultValue all of it
 */
export function takenByValue(
  tally: Pick<KeptTally, 'columns' | 'accounts'>,
  amountOf: (costs: ValueCosts) => MicroDollars = ({ taken }) => taken,
): ReadonlyMap<string, ReadonlyMap<string, MicroDollars>> {
  const values = [...costsByValue(tally)];
  return new Map(
    values.map(([column, costs]) => [
      column,
      new Map([...costs].map(([value, sum]) => [value, amountOf(sum)])),
    ]),
  );
}

type Sums = Pick<Account, 'sums' | 'counts' | 'rows'>;

function costsOfColumn(accounts: readonly Account[], place: number): ReadonlyMap<string, ValueCosts> {
  const sums = new Map<string, Sums>();
  for (const account of accounts) {
    const value = account.purchase.by?.[place] ?? '';
    const sum = sums.get(value) ?? { sums: [], counts: [], rows: [] };
    sums.set(value, sum);
    for (const part of ['sums', 'counts', 'rows'] as const) addRows(sum[part], account[part]);
  }
  const costs = [...sums].map(([value, sum]) => [value, valueCosts(sum)] as const);
  return new Map(costs.filter(([, { taken, rows }]) => taken > 0 || rows.completed + rows.failed > 0));
}

function valueCosts(sum: Sums): ValueCosts {
  const rows = { completed: 0, failed: 0, unknown: 0, download: 0 };
  for (const [byte, status] of statuses.entries()) {
    if (!isEnd(status)) continue;
    const count = sum.rows[byte] ?? 0;
    rows[status === 'completed' ? 'completed' : 'failed'] += count;
    if (status === 'unknown' || status === 'download') rows[status] += count;
  }
  const taken = sum.sums.reduce((total, amount) => total + amount, 0);
  return { ...endedMoney(sum), taken, reserved: sum.sums[bookings.reserved] ?? 0, rows };
}
