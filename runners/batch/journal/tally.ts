import type { CostSource } from './record.js';
import type { MoneyBySource, Totals } from './journal.js';
import { statusOf } from './row-status.js';
import type { RowStatus } from './row-status.js';
import type { RowTable } from './row-table.js';

/** What a row's latest purchase counts as. One byte in the table. */
export const bookings = { none: 0, reserved: 1, reported: 2, estimated: 3, unknown: 4 } as const;
type Booking = (typeof bookings)[keyof typeof bookings];

interface Account {
  readonly sums: [none: number, reserved: number, reported: number, estimated: number, unknown: number];
  purchases: number;
}

/** At most so many resolutions are told apart; further ones count under the empty string. */
const maxResolutions = 255;

/** Adds up the money, purchase by purchase: a row's later record replaces what an earlier one booked. */
export class Tally {
  statusCalls = 0;
  private possiblyDouble = 0;
  private unpriced = 0;
  private readonly accounts: Account[] = [emptyAccount()];
  private readonly resolutions: string[] = [''];

  constructor(
    private readonly rows: RowTable,
    private readonly unpricedFlag: number,
  ) {}

  /** Books the row's purchase as `booking`, in place of what it was. `amount` NaN: no price is known, 0 is booked. */
  book(row: number, booking: Booking, amount: number): void {
    this.unbook(row);
    const known = Number.isNaN(amount) ? 0 : amount;
    this.rows.booking.set(row, booking);
    this.rows.amount.set(row, known);
    if (Number.isNaN(amount)) this.markUnpriced(row);
    this.add(row, booking, known, 1);
  }

  /** Takes the row's purchase out of the sums. */
  unbook(row: number): void {
    this.add(row, this.bookingOf(row), this.rows.amount.get(row), -1);
    this.clear(row);
  }

  /** Leaves the row's purchase in the sums for good: the row is bought again. */
  close(row: number): void {
    const booking = this.bookingOf(row);
    if (booking === bookings.reserved) this.book(row, bookings.unknown, this.amountOf(row));
    if (this.bookingOf(row) === bookings.unknown) this.possiblyDouble += this.rows.amount.get(row);
    const priced = this.isPriced(row);
    this.clear(row);
    if (!priced) this.unpriced++;
  }

  /** Books what a reply or an outcome says of the cost. */
  settle(row: number, source: CostSource, cost: number): void {
    const spent = this.bookingOf(row) === bookings.reported || this.bookingOf(row) === bookings.estimated;
    if (source === 'none') {
      if (!spent) this.unbook(row);
    } else if (source === 'unknown' || Number.isNaN(cost)) {
      if (!spent) this.book(row, bookings.unknown, Number.isNaN(cost) ? this.amountOf(row) : cost);
    } else this.book(row, bookings[source], cost);
  }

  /** What is held as unknown for the row is reserved again: its id is polled. */
  reserveAgain(row: number): void {
    if (this.bookingOf(row) === bookings.unknown) this.book(row, bookings.reserved, this.amountOf(row));
  }

  bookingOf(row: number): Booking {
    return this.rows.booking.get(row) as Booking;
  }

  /** What is booked for the row; NaN where no price is known. */
  amountOf(row: number): number {
    return this.isPriced(row) ? this.rows.amount.get(row) : Number.NaN;
  }

  setResolution(row: number, resolution: string): void {
    let index = this.resolutions.indexOf(resolution);
    if (index < 0 && this.resolutions.length < maxResolutions) {
      index = this.resolutions.push(resolution) - 1;
      this.accounts.push(emptyAccount());
    }
    this.rows.resolution.set(row, Math.max(index, 0));
  }

  totals(): Totals {
    const all = this.accounts.reduce(merged, emptyAccount());
    return {
      rows: this.countRows(),
      spent: spentOf(all),
      unknown: all.sums[bookings.unknown],
      possiblyDouble: this.possiblyDouble,
      reserved: all.sums[bookings.reserved],
      unpriced: this.unpriced,
      byResolution: new Map(
        this.accounts.map((account, index) => [
          this.resolutions[index] ?? '',
          { ...spentOf(account), purchases: account.purchases, unknown: account.sums[bookings.unknown] },
        ]),
      ),
      purchases: all.purchases,
      statusCalls: this.statusCalls,
    };
  }

  private countRows(): Map<RowStatus, number> {
    const counts = new Map<number, number>();
    for (let row = 0; row < this.rows.length; row++) {
      const status = this.rows.status.get(row);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return new Map([...counts].map(([status, count]) => [statusOf(status), count]));
  }

  private add(row: number, booking: Booking, amount: number, sign: 1 | -1): void {
    if (booking === bookings.none) return;
    const account = this.accounts[this.rows.resolution.get(row)] ?? emptyAccount();
    account.sums[booking] += sign * amount;
    if (booking === bookings.reported || booking === bookings.estimated) account.purchases += sign;
  }

  private clear(row: number): void {
    this.rows.booking.set(row, bookings.none);
    this.rows.amount.set(row, 0);
    if (!this.isPriced(row)) {
      this.rows.flags.set(row, this.rows.flags.get(row) & ~this.unpricedFlag);
      this.unpriced--;
    }
  }

  private markUnpriced(row: number): void {
    this.rows.flags.set(row, this.rows.flags.get(row) | this.unpricedFlag);
    this.unpriced++;
  }

  private isPriced(row: number): boolean {
    return (this.rows.flags.get(row) & this.unpricedFlag) === 0;
  }
}

function emptyAccount(): Account {
  return { sums: [0, 0, 0, 0, 0], purchases: 0 };
}

function merged(sum: Account, account: Account): Account {
  for (const booking of [1, 2, 3, 4] as const) sum.sums[booking] += account.sums[booking];
  sum.purchases += account.purchases;
  return sum;
}

function spentOf({ sums }: Account): MoneyBySource {
  return { reported: sums[bookings.reported], estimated: sums[bookings.estimated] };
}
