import type { RowKind } from '../../manifest/row.js';
import type { MoneyBySource, ReportedPrice, Totals } from '../journal.js';
import type { CostSource } from '../record.js';
import { statusOf } from './row-status.js';
import type { RowStatus } from './row-status.js';
import { WideColumn } from './column.js';
import type { RowTable } from './row-table.js';

/** What a row's latest purchase counts as. One byte in the table. */
export const bookings = { none: 0, reserved: 1, reported: 2, estimated: 3, unknown: 4 } as const;
type Booking = (typeof bookings)[keyof typeof bookings];

/** What purchases are told apart by. */
export interface Purchase {
  readonly kind: string;
  readonly endpoint: string;
  readonly resolution: string;
}

interface Account {
  readonly purchase: Purchase;
  readonly sums: [none: number, reserved: number, reported: number, estimated: number, unknown: number];
  purchases: number;
  /** Highest reported price; -1 where none was reported. */
  highest: number;
}

/** At most so many endpoints and resolutions are told apart; the rest counts as one. */
const maxAccounts = 0xffff;
const nothing: Purchase = { kind: '', endpoint: '', resolution: '' };

/** Adds up the money, purchase by purchase: a row's later record replaces what an earlier one booked. */
export class Tally {
  statusCalls = 0;
  private possiblyDouble = 0;
  private unpriced = 0;
  private readonly accounts: Account[] = [emptyAccount(nothing)];
  private readonly places = new Map<string, number>();
  private latest = nothing;
  private place = 0;

  constructor(
    private readonly rows: RowTable,
    private readonly unpricedFlag: number,
  ) {}

  /** Books the row's purchase as `booking`, in place of what it was. `amount` NaN: no price is known, 0 is booked. */
  book(row: number, booking: Booking, amount: number): void {
    this.unbook(row);
    const isPrice = amount >= 0 && amount <= WideColumn.max;
    const known = isPrice ? Math.round(amount) : 0;
    this.rows.booking.set(row, booking);
    this.rows.amount.set(row, known);
    if (!isPrice) this.markUnpriced(row);
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
    } else {
      this.book(row, bookings[source], cost);
      const account = this.accountOf(row);
      if (source === 'reported') account.highest = Math.max(account.highest, cost);
    }
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

  /** Says what the row buys. Only while nothing is booked for it. */
  setPurchase(row: number, purchase: Purchase): void {
    if (purchase !== this.latest) this.place = this.placeOf(purchase);
    this.latest = purchase;
    this.rows.account.set(row, this.place);
  }

  totals(): Totals {
    const all = emptyAccount(nothing);
    const byResolution = new Map<string, Account>();
    for (const account of this.accounts) {
      const { resolution } = account.purchase;
      const sum = byResolution.get(resolution) ?? emptyAccount(account.purchase);
      byResolution.set(resolution, sum);
      for (const into of [all, sum]) addTo(into, account);
    }
    return {
      rows: this.countRows(),
      spent: spentOf(all),
      unknown: all.sums[bookings.unknown],
      possiblyDouble: this.possiblyDouble,
      reserved: all.sums[bookings.reserved],
      unpriced: this.unpriced,
      byResolution: new Map(
        [...byResolution]
          .filter(([, sum]) => isUsed(sum))
          .map(([resolution, sum]) => [resolution, resolutionTotals(sum)]),
      ),
      purchases: all.purchases,
      statusCalls: this.statusCalls,
    };
  }

  /** The highest price reported of each kind, endpoint and resolution. */
  highestReported(): ReportedPrice[] {
    return this.accounts
      .filter(({ highest }) => highest >= 0)
      .map(({ purchase, highest }) => ({ ...purchase, kind: purchase.kind as RowKind, cost: highest }));
  }

  private placeOf(purchase: Purchase): number {
    const name = `${purchase.kind} ${purchase.endpoint} ${purchase.resolution}`;
    const known = this.places.get(name);
    if (known !== undefined || this.accounts.length >= maxAccounts) return known ?? 0;
    const place = this.accounts.push(emptyAccount(purchase)) - 1;
    this.places.set(name, place);
    return place;
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
    const account = this.accountOf(row);
    account.sums[booking] += sign * amount;
    if (booking === bookings.reported || booking === bookings.estimated) account.purchases += sign;
  }

  private accountOf(row: number): Account {
    return this.accounts[this.rows.account.get(row)] ?? emptyAccount(nothing);
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

function emptyAccount(purchase: Purchase): Account {
  return { purchase, sums: [0, 0, 0, 0, 0], purchases: 0, highest: -1 };
}

function addTo(sum: Account, account: Account): void {
  for (const booking of [1, 2, 3, 4] as const) sum.sums[booking] += account.sums[booking];
  sum.purchases += account.purchases;
}

function isUsed({ sums, purchases }: Account): boolean {
  return purchases > 0 || sums.some((sum) => sum > 0);
}

function resolutionTotals(account: Account): MoneyBySource & { purchases: number; unknown: number } {
  return { ...spentOf(account), purchases: account.purchases, unknown: account.sums[bookings.unknown] };
}

function spentOf({ sums }: Account): MoneyBySource {
  return { reported: sums[bookings.reported], estimated: sums[bookings.estimated] };
}
