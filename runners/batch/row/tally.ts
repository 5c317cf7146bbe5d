import { isBelievable } from '../../../src/contract/reported-cost.js';
import type { ReportedPrice, Totals } from '../journal/journal.js';
import type { CostSource } from '../journal/record.js';
import { Accounts, bookings } from './accounts.js';
import type { Account, Booking, Purchase } from './accounts.js';
import { rowFlags } from '../journal/rows/row-table.js';
import type { RowTable } from '../journal/rows/row-table.js';
import { statusOf } from './row-status.js';
import type { RowStatus } from './row-status.js';

/** What a tally holds beside the table, as plain values. */
export interface KeptTally {
  readonly statusCalls: number;
  readonly possiblyDouble: number;
  readonly unpriced: number;
  readonly accounts: readonly Account[];
}

/** Adds up the money, purchase by purchase: a row's later record replaces what an earlier one booked. */
export class Tally {
  statusCalls = 0;
  private readonly accounts = new Accounts();
  private possiblyDouble = 0;
  private unpriced = 0;

  constructor(private readonly rows: RowTable) {}

  get kept(): KeptTally {
    const { statusCalls, possiblyDouble, unpriced, accounts } = this;
    return { statusCalls, possiblyDouble, unpriced, accounts: accounts.kept };
  }

  /** Goes on from what was `kept`, over the same table. */
  restore({ statusCalls, possiblyDouble, unpriced, accounts }: KeptTally): void {
    this.statusCalls = statusCalls;
    this.possiblyDouble = possiblyDouble;
    this.unpriced = unpriced;
    this.accounts.restore(accounts);
  }

  /** Says what the row buys. Only while nothing is booked for it. */
  setPurchase(row: number, purchase: Purchase): void {
    this.rows.account.set(row, this.accounts.placeOf(purchase));
  }

  /** Books the row's purchase as `booking`, in place of what it was. `amount` NaN: no price is known, 0 is booked. */
  book(row: number, booking: Booking, amount: number): void {
    const isPrice = isBelievable(amount, null);
    const known = isPrice ? Math.round(amount) : 0;
    // An outcome mostly says what the reply has said.
    const isBooked = this.bookingOf(row) === booking && this.rows.amount.get(row) === known;
    if (isBooked && this.isPriced(row) === isPrice) return;
    this.unbook(row);
    this.rows.booking.set(row, booking);
    this.rows.amount.set(row, known);
    this.rows.setFlag(row, rowFlags.unpriced, !isPrice);
    if (!isPrice) this.unpriced++;
    this.add(row, booking, known, 1);
  }

  /** Takes the row's purchase out of the sums. */
  unbook(row: number): void {
    this.add(row, this.bookingOf(row), this.rows.amount.get(row), -1);
    if (!this.isPriced(row)) this.unpriced--;
    this.clear(row);
  }

  /** Leaves the row's purchase in the sums for good: the row is bought again. */
  close(row: number): void {
    if (this.bookingOf(row) === bookings.reserved) this.book(row, bookings.unknown, this.amountOf(row));
    if (this.bookingOf(row) === bookings.unknown) this.possiblyDouble += this.rows.amount.get(row);
    this.clear(row);
  }

  /**
   * Books what a reply or an outcome says of the cost. What is spent stays spent. A cost that is not believed, which
   * 0.1.0 wrote as it was reported, is booked at what was reserved.
   *
   * @param isByHand a person said it: it is believed as long as the books can hold it
   */
  settle(row: number, source: CostSource, cost: number, isByHand = false): void {
    const isSpent = source === 'reported' || source === 'estimated';
    const estimate = this.amountOf(row);
    if (isSpent && isBelievable(cost, source === 'reported' && !isByHand ? estimate : null))
      return this.spend(row, source, cost);
    if (isSpent && !Number.isNaN(cost) && !Number.isNaN(estimate))
      return this.spend(row, 'estimated', estimate);
    const booking = this.bookingOf(row);
    if (booking === bookings.reported || booking === bookings.estimated) return;
    if (source === 'none') this.unbook(row);
    else this.book(row, bookings.unknown, Number.isNaN(cost) ? this.amountOf(row) : cost);
  }

  /** What is held as unknown for the row is reserved again: its id is polled. */
  reserveAgain(row: number): void {
    if (this.bookingOf(row) === bookings.unknown) this.book(row, bookings.reserved, this.amountOf(row));
  }

  /** What the row bought last. */
  purchaseOf(row: number): Purchase {
    return this.accounts.at(this.rows.account.get(row)).purchase;
  }

  /** Takes a purchase out of what is held that was closed before. `held` NaN: no price is known. */
  free(
    purchase: Purchase,
    { held, paid }: { readonly held: number; readonly paid: number | undefined },
  ): void {
    const account = this.accounts.at(this.accounts.placeOf(purchase));
    const isPriced = held >= 0;
    const known = isPriced ? Math.round(held) : 0;
    account.sums[bookings.unknown] -= known;
    this.possiblyDouble -= known;
    if (!isPriced) this.unpriced--;
    if (paid === undefined) return;
    account.sums[bookings.reported] += paid;
    account.purchases++;
  }

  bookingOf(row: number): Booking {
    return this.rows.booking.get(row) as Booking;
  }

  /** What is booked for the row; NaN where no price is known. */
  amountOf(row: number): number {
    return this.isPriced(row) ? this.rows.amount.get(row) : Number.NaN;
  }

  totals(): Totals {
    const { possiblyDouble, unpriced, statusCalls } = this;
    return { rows: this.countRows(), ...this.accounts.totals(), possiblyDouble, unpriced, statusCalls };
  }

  /** The highest price reported of each kind, endpoint and resolution. */
  highestReported(): ReportedPrice[] {
    return this.accounts.highestReported();
  }

  private spend(row: number, source: 'reported' | 'estimated', cost: number): void {
    this.book(row, bookings[source], cost);
    const account = this.accounts.at(this.rows.account.get(row));
    if (source === 'reported') account.highest = Math.max(account.highest, this.amountOf(row));
  }

  private add(row: number, booking: Booking, amount: number, sign: 1 | -1): void {
    if (booking === bookings.none) return;
    const account = this.accounts.at(this.rows.account.get(row));
    account.sums[booking] += sign * amount;
    if (booking === bookings.reported || booking === bookings.estimated) account.purchases += sign;
  }

  private clear(row: number): void {
    if (this.bookingOf(row) === bookings.none) return;
    this.rows.booking.set(row, bookings.none);
    this.rows.amount.set(row, 0);
    this.rows.setFlag(row, rowFlags.unpriced, false);
  }

  private isPriced(row: number): boolean {
    return !this.rows.hasFlag(row, rowFlags.unpriced);
  }

  private countRows(): Map<RowStatus, number> {
    const counts = new Map<number, number>();
    for (let row = 0; row < this.rows.length; row++) {
      const status = this.rows.status.get(row);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return new Map([...counts].map(([status, count]) => [statusOf(status), count]));
  }
}
