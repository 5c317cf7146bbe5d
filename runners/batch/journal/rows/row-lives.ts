import { ScannedHead } from './scanned-head.js';
import type { RowRecord } from '../../row/record-head.js';
import { mayBePaid, statusBytes, statusOf, type RowStatus } from '../../row/row-status.js';
import { amountOf, type Booking, type RowBooks } from '../../row/row-books.js';
import { Tally } from '../../row/tally.js';
import { field } from '../line/record-line.js';
import type { HeadScanner } from '../line/head-scanner.js';
import { JobHashes } from './hash-index.js';
import { rowFlags, type RowTable } from './row-table.js';

/** Applies each record to its row: the state and money by the tally, and the positions of the row's last records. */
export class RowLives {
  readonly tally = new Tally();
  readonly jobs = new JobHashes();
  /** The largest row number in the journal. */
  lastRow = 0;
  private readonly record = new ScannedHead();
  private readonly books: TableBooks;

  constructor(private readonly table: RowTable) {
    this.books = new TableBooks(table);
  }

  /** Applies a record of a row that begins at `offset` of the file. */
  take(word: string, head: HeadScanner, offset: number): void {
    const { record, tally, table } = this;
    const kind = record.read(word, head);
    const { length } = table.ids;
    const row = table.ids.add(head.id);
    if (table.ids.length > length) tally.addRow();
    const books = this.books.at(row);
    if (kind !== 'intent') this.takeJob(books, head);
    if (kind === 'reopen') this.takeReopening(row, record);
    // A person has found that this purchase was never made, or a callback has named its job: it is the row's latest again.
    if ((kind === 'freed' && record.source === 'none') || kind === 'intent') this.forgetHeld(row, head);
    tally.take(books, record);
    this.takePlace(row, kind, head, offset);
  }

  statusAt(row: number): RowStatus {
    return statusOf(this.table.status.get(row));
  }

  /** The amount booked for the row; 0 if there is none, `null` if no price is known. */
  priceAt(row: number): number | null {
    const amount = amountOf(this.books.at(row));
    return Number.isNaN(amount) ? null : amount;
  }

  /** A copy of the books of a row, independent of the table. */
  booksAt(row: number): RowBooks {
    const { status, booking, amount, isUnpriced, account } = this.books.at(row);
    return { status, booking, amount, isUnpriced, account };
  }

  /** Makes a row open whose intent is lost. */
  open(row: number): void {
    this.tally.move(this.books.at(row), 'open');
  }

  private takeJob(row: RowBooks, head: HeadScanner): void {
    const jobId = head.hashOf(field.jobId);
    if (jobId !== undefined) this.jobs.note(this.tally.purchaseOf(row).endpoint, jobId);
  }

  private takeReopening(row: number, { why, to }: ScannedHead): void {
    const { replaced, heldBefore, content, asked } = this.table;
    const sent = [content.get(row), asked.get(row)].filter((bits) => bits !== 0);
    if (why === 'redo') replaced.set(row, [...(replaced.get(row) ?? []), ...sent]);
    if (why !== 'retry' || to !== 'buy' || sent.length === 0 || !mayBePaid(this.statusAt(row))) return;
    heldBefore.set(row, [...(heldBefore.get(row) ?? []), [this.table.attempts(row), ...sent]]);
  }

  private forgetHeld(row: number, head: HeadScanner): void {
    const { heldBefore } = this.table;
    const held = heldBefore.get(row);
    if (held === undefined) return;
    const left = held.filter(([attempt]) => attempt !== head.number(field.attempt));
    if (left.length > 0) heldBefore.set(row, left);
    else heldBefore.delete(row);
  }

  private takePlace(row: number, kind: RowRecord['k'], head: HeadScanner, offset: number): void {
    const { table } = this;
    if (kind === 'intent') this.takeIntent(row, head, offset);
    if (kind === 'accepted') table.acceptedAt.set(row, offset + 1);
    if (kind === 'reply') table.replyAt.set(row, offset + 1);
    if (kind !== 'outcome') return;
    table.outcomeAt.set(row, offset + 1);
    table.setFlag(row, rowFlags.beforeRepair, false);
    const attempt = head.number(field.attempt);
    if (attempt > table.attempts(row)) table.setAttempts(row, attempt);
  }

  private takeIntent(row: number, head: HeadScanner, offset: number): void {
    const { table } = this;
    if (this.record.takes === '') {
      table.acceptedAt.set(row, 0);
      table.outcomeAt.set(row, 0);
    }
    table.intentAt.set(row, offset + 1);
    table.replyAt.set(row, 0);
    table.setAttempts(row, head.number(field.attempt));
    table.content.set(row, head.bits(field.hash));
    table.asked.set(row, head.bits(field.asked));
    table.setFlag(row, rowFlags.beforeRepair, false);
    this.lastRow = Math.max(this.lastRow, head.number(field.row));
  }
}

/** The books of a row in the table's columns: one object for all rows, because a resumed run may read four million records. */
class TableBooks implements RowBooks {
  private row = 0;

  constructor(private readonly table: RowTable) {}

  /** Returns the same object, which has the books of this row until the next call. */
  at(row: number): this {
    this.row = row;
    return this;
  }

  get status(): RowStatus {
    return statusOf(this.table.status.get(this.row));
  }

  set status(status: RowStatus) {
    this.table.status.set(this.row, statusBytes[status]);
  }

  get booking(): Booking {
    return this.table.booking.get(this.row) as Booking;
  }

  set booking(booking: Booking) {
    this.table.booking.set(this.row, booking);
  }

  get amount(): number {
    return this.table.amount.get(this.row);
  }

  set amount(amount: number) {
    this.table.amount.set(this.row, amount);
  }

  get isUnpriced(): boolean {
    return this.table.hasFlag(this.row, rowFlags.unpriced);
  }

  set isUnpriced(isUnpriced: boolean) {
    this.table.setFlag(this.row, rowFlags.unpriced, isUnpriced);
  }

  get account(): number {
    return this.table.account.get(this.row);
  }

  set account(account: number) {
    this.table.account.set(this.row, account);
  }
}
