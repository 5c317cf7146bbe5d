import { isBelievable } from '../../../src/contract/micro-dollars.js';
import { isCostByHand } from '../journal/record.js';
import { columnValue } from '../manifest/columns/column-value.js';
import { Accounts, nothing } from './accounts.js';
import type { RecordHead } from './record-head.js';
import {
  amountOf,
  bookings,
  clear,
  endedBookings,
  isSpent,
  isUnknown,
  type Booking,
  type RowBooks,
} from './row-books.js';
import { nextStatus, statusBytes, statuses, type RowStatus } from './row-status.js';
import type { KeptTally, PurchaseKind, ReportedPrice, Totals } from './totals.js';

/**
 * Adds up rows and money, record by record: a later record of a row replaces what an earlier one booked. The start that reads
 * the journal, the run that writes it, `status` and the summary all use it.
 */
export class Tally {
  private statusCalls = 0;
  private readonly accounts = new Accounts();
  private possiblyDouble = 0;

  get kept(): KeptTally {
    const { statusCalls, possiblyDouble, accounts } = this;
    return { statusCalls, possiblyDouble, accounts: accounts.kept, columns: accounts.columns };
  }

  /** The columns by which money and rows are kept separate. Set them before the first row is counted. */
  set columns(columns: readonly string[]) {
    this.accounts.columns = columns;
  }

  /** Continues from what was `kept`, which is not changed. */
  restore({ statusCalls, possiblyDouble, accounts, columns }: KeptTally): void {
    this.statusCalls = statusCalls;
    this.possiblyDouble = possiblyDouble;
    this.accounts.restore(accounts);
    this.accounts.columns = columns;
  }

  /** Counts a row that is seen for the first time. */
  addRow(): void {
    this.count(0, 'open', 1);
  }

  take(row: RowBooks, record: RecordHead): void {
    if (record.k === 'intent') this.bookIntent(row, record);
    else if (record.k === 'refused' && row.status === 'sent') this.unbook(row);
    else if (record.k === 'reply') this.settle(row, record);
    else if (record.k === 'outcome') {
      if (row.booking === bookings.none) this.setPurchase(row, record);
      this.settle(row, record);
      this.statusCalls += record.statusCalls || 0;
    } else if (record.k === 'reopen') this.bookReopening(row, record);
    else if (record.k === 'freed') this.free(row, record);
    this.move(row, nextStatus(row.status, record));
  }

  /** Changes the state of a row without a record: a row whose intent is lost becomes open. */
  move(row: RowBooks, status: RowStatus): void {
    if (row.status === status) return;
    this.count(row.account, row.status, -1);
    this.count(row.account, status, 1);
    row.status = status;
  }

  purchaseOf(row: RowBooks): PurchaseKind {
    return this.accounts.at(row.account).purchase;
  }

  totals(): Totals {
    const { possiblyDouble, statusCalls } = this;
    const counts = this.accounts.rows();
    const rows = statuses.flatMap((status, byte) => {
      const count = counts[byte] ?? 0;
      return count > 0 ? [[status, count] as const] : [];
    });
    return { rows: new Map(rows), ...this.accounts.totals(), possiblyDouble, statusCalls };
  }

  /** The highest price for each kind, endpoint and resolution that the service has reported, or that the time of a job has shown. */
  highestReported(): ReportedPrice[] {
    return this.accounts.highestReported();
  }

  private bookIntent(row: RowBooks, record: RecordHead): void {
    // The row's earlier purchase stays in the sums, and this one is booked separately.
    if (record.takes === '') this.close(row);
    if (row.booking !== bookings.none) return;
    this.setPurchase(row, record);
    this.book(row, bookings.reserved, record.price);
  }

  private bookReopening(row: RowBooks, { to, why }: RecordHead): void {
    if (to === 'buy') {
      if (why === 'settle') this.unbook(row);
      else this.close(row);
    } else if (isUnknown(row.booking)) this.book(row, bookings.reserved, amountOf(row));
  }

  /** Sets the row's kind of purchase, if the record names it. Only allowed while nothing is booked for the row. */
  private setPurchase(row: RowBooks, record: RecordHead): void {
    const purchase = this.purchaseIn(record);
    if (purchase === undefined) return;
    const place = this.accounts.placeOf(purchase);
    if (place === row.account) return;
    this.count(row.account, row.status, -1);
    this.count(place, row.status, 1);
    row.account = place;
  }

  /** The kind of purchase in a record, with the row's values in the tracked columns. */
  private purchaseIn(record: RecordHead): PurchaseKind | undefined {
    const { columns } = this.accounts;
    const { purchase } = record;
    if (columns.length === 0) return purchase;
    const { origin } = record;
    if (origin === undefined) return purchase;
    return { ...(purchase ?? nothing), by: columns.map((column) => columnValue(origin, column)) };
  }

  /**
   * Books the row's purchase as `booking`, replacing its earlier booking. If `amount` is NaN, no price is known and 0
   * is booked.
   */
  private book(row: RowBooks, booking: Booking, amount: number): void {
    const isPrice = isBelievable(amount, null);
    const known = isPrice ? Math.round(amount) : 0;
    // Most outcomes have the same cost as the reply before them.
    if (row.booking === booking && row.amount === known && row.isUnpriced === !isPrice) return;
    this.unbook(row);
    row.booking = booking;
    row.amount = known;
    row.isUnpriced = !isPrice;
    this.add(row, 1);
  }

  private unbook(row: RowBooks): void {
    this.add(row, -1);
    clear(row);
  }

  /** Fixes the row's purchase in the sums before the row is bought again. */
  private close(row: RowBooks): void {
    if (row.booking === bookings.none) return;
    if (row.booking === bookings.reserved) this.book(row, bookings.unknown, amountOf(row));
    if (isUnknown(row.booking)) this.possiblyDouble += row.amount;
    const closed = endedBookings[row.booking];
    if (closed !== undefined) this.book(row, closed, amountOf(row));
    clear(row);
  }

  /**
   * Books the cost in a reply or an outcome. A known cost stays booked if the record has none. An unbelievable cost,
   * which version 0.1.0 wrote as it was reported, is booked at the reserved price; a cost that a person gave is
   * accepted as long as the books can hold it.
   */
  private settle(row: RowBooks, record: RecordHead): void {
    const { source, cost } = record;
    const isByHand = record.k === 'outcome' && isCostByHand(record.end);
    const hasCost = source === 'reported' || source === 'estimated';
    const estimate = amountOf(row);
    if (hasCost && isBelievable(cost, source === 'reported' && !isByHand ? estimate : null))
      return this.spend(row, record.k, source, cost);
    if (hasCost && !Number.isNaN(cost) && !Number.isNaN(estimate))
      return this.spend(row, record.k, 'estimated', estimate);
    if (isSpent(row.booking)) {
      if (record.k === 'outcome') this.book(row, endedBookings[row.booking] ?? row.booking, estimate);
    } else if (source === 'none') this.unbook(row);
    else {
      const booking = record.k === 'reply' ? bookings.paidUnknown : bookings.unknown;
      this.book(row, booking, Number.isNaN(cost) ? estimate : cost);
    }
  }

  private spend(row: RowBooks, k: RecordHead['k'], source: 'reported' | 'estimated', cost: number): void {
    // The purchase is in the files already if the row was reopened only to download its picture.
    const isBooked = row.booking === bookings.reported || row.booking === bookings.estimated;
    // A job that took longer than was reckoned with shows its price as a reported one does.
    const isPrice = source === 'reported' || cost > row.amount;
    const paid = source === 'reported' ? bookings.paidReported : bookings.paidEstimated;
    this.book(row, k === 'reply' && !isBooked ? paid : bookings[source], cost);
    const account = this.accounts.at(row.account);
    if (isPrice) account.highest = Math.max(account.highest, amountOf(row));
  }

  /** Removes a purchase that was closed earlier from the held money. */
  private free(row: RowBooks, record: RecordHead): void {
    const { by } = this.accounts.at(row.account).purchase;
    // Earlier versions wrote no values into this record, so those of the row's latest purchase are used.
    const account = this.accounts.placeOf({ ...(by && { by }), ...(this.purchaseIn(record) ?? nothing) });
    const isUnpriced = !(record.price >= 0);
    const amount = isUnpriced ? 0 : Math.round(record.price);
    this.possiblyDouble -= amount;
    this.add({ account, booking: bookings.unknown, amount, isUnpriced }, -1);
    if (record.source === 'reported')
      this.add({ account, booking: bookings.reported, amount: record.cost, isUnpriced: false }, 1);
  }

  private add({ account, booking, amount, isUnpriced }: Omit<RowBooks, 'status'>, sign: 1 | -1): void {
    if (booking === bookings.none) return;
    const { sums, counts, unpriced } = this.accounts.at(account);
    sums[booking] = (sums[booking] ?? 0) + sign * amount;
    counts[booking] = (counts[booking] ?? 0) + sign;
    if (isUnpriced) unpriced[booking] = (unpriced[booking] ?? 0) + sign;
  }

  private count(account: number, status: RowStatus, by: 1 | -1): void {
    const { rows } = this.accounts.at(account);
    const byte = statusBytes[status];
    while (rows.length < byte) rows.push(0);
    rows[byte] = (rows[byte] ?? 0) + by;
  }
}
