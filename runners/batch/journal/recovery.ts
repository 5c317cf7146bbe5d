import { failureCodes } from '../../../src/contract/failure-code.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import { decodeRecord } from './line/decode-record.js';
import { journalFormat } from './line/encode-record.js';
import type { HeadScanner } from './line/head-scanner.js';
import { IdHash } from './rows/id-hash.js';
import { JournalError } from './journal-error.js';
import type { JournalRecord, CostSource, RecordOf, RunIdentity } from './record.js';
import { contentBits, RowStates } from './rows/row-states.js';
import { statusByte, statusOf } from './rows/row-status.js';
import type { RowStatus } from './rows/row-status.js';
import { RowTable } from './rows/row-table.js';
import { bookings, Tally } from './rows/tally.js';
import type { Purchase } from './rows/tally.js';

/** So many records lie between two marks. */
export const recordsAMark = 4_096;

/** Bits of `RowTable.flags`. */
const unpriced = 1;
/** Known before a repair, and neither sent nor ended since. */
const beforeRepair = 2;

/** The words that a head may hold, the most frequent in front. */
const kinds: readonly JournalRecord['k'][] = ['intent', 'accepted', 'reply', 'outcome', 'refused', 'reopen'];
const sources: readonly CostSource[] = ['reported', 'estimated', 'unknown', 'none'];
const takings = ['', 'job', 'picture'] as const;
const ends = ['completed', 'failed'] as const;
const failures = Object.keys(failureCodes) as FailureCode[];

const pendingStatuses = new Set(['sent', 'accepted', 'replied']);

/** Grows with each record of the pass; holds what `Recovered` tells. */
export class Recovery {
  readonly table = new RowTable();
  readonly rows = new RowStates(this.table);
  readonly tally = new Tally(this.table, unpriced);
  records = 0;
  /** Where every so manieth record begins, so that a later pass need not read all that stands before its first one. */
  readonly marks: number[] = [];
  lastRow = 0;
  starts = 0;
  identity: RunIdentity | undefined;
  firstStartAt: number | undefined;
  lastStartAt: number | undefined;
  lastStop: { at: number; exitCode: number } | undefined;
  repairs = 0;
  heldUpToRow: number | undefined;
  private readonly hash = new IdHash();
  private purchase: Purchase = { kind: '', endpoint: '', resolution: '' };

  /** Takes in a record that begins at `offset` of the file; `head` has been scanned from `line`. */
  take(head: HeadScanner, offset: number, line: () => Buffer): void {
    if (this.records % recordsAMark === 0) this.marks.push(offset);
    this.records++;
    const kind = head.word('k', kinds);
    if (head.hasId) this.takeRow(kind, head, offset);
    else this.takeRun(decodeRecord(line()).record, line);
  }

  /** Rows whose intent is lost cannot be gone on with: they are open, and `mustHold` keeps them from being bought. */
  finish(): void {
    for (let row = 0; row < this.table.length; row++) {
      if (pendingStatuses.has(this.statusAt(row)) && this.table.intentAt.get(row) === 0) {
        this.setStatus(row, 'open');
        this.flag(row, beforeRepair, true);
        this.heldUpToRow ??= 0;
      }
    }
  }

  statusAt(row: number): RowStatus {
    return statusOf(this.table.status.get(row));
  }

  indexOf(id: string): number {
    return this.table.find(this.hash.ofText(id));
  }

  mustHold(id: string, row: number): boolean {
    if (this.heldUpToRow === undefined) return false;
    const index = this.indexOf(id);
    if (index < 0) return row <= this.heldUpToRow;
    return (this.table.flags.get(index) & beforeRepair) !== 0 && this.statusAt(index) !== 'completed';
  }

  private takeRow(kind: JournalRecord['k'], head: HeadScanner, offset: number): void {
    const row = this.table.add(head.id);
    switch (kind) {
      case 'intent':
        return this.takeIntent(row, head, offset);
      case 'refused':
        return this.takeRefusal(row);
      case 'accepted':
        this.table.acceptedAt.set(row, offset + 1);
        return this.setStatus(row, 'accepted');
      case 'reply':
        this.table.replyAt.set(row, offset + 1);
        this.tally.settle(row, head.word('source', sources), head.number('cost'));
        return this.setStatus(row, 'replied');
      case 'outcome':
        return this.takeOutcome(row, head, offset);
      case 'reopen':
        return this.takeReopening(row, head.word('to'), head.word('why'));
      default:
        throw unknownKind(kind);
    }
  }

  private takeIntent(row: number, head: HeadScanner, offset: number): void {
    const price = head.number('price');
    const buys = price !== 0;
    if (buys) this.tally.close(row);
    if (this.tally.bookingOf(row) === bookings.none) {
      this.tally.setPurchase(row, this.purchaseOf(head));
      this.tally.book(row, bookings.reserved, price);
    }
    this.table.intentAt.set(row, offset + 1);
    this.table.replyAt.set(row, 0);
    if (buys) this.table.acceptedAt.set(row, 0);
    this.table.attempts.set(row, Math.min(head.number('attempt'), 0xffff));
    this.table.content.set(row, contentBits(head.word('hash')));
    this.lastRow = Math.max(this.lastRow, head.number('row'));
    this.flag(row, beforeRepair, false);
    this.setStatus(row, this.statusAfterIntent(row, head.word('takes', takings)));
  }

  /** What buys nothing waits for no answer: its job, or its picture, is known already. */
  private statusAfterIntent(row: number, takes: string): RowStatus {
    if (takes === 'picture') return 'replied';
    return takes === 'job' || this.table.acceptedAt.get(row) !== 0 ? 'accepted' : 'sent';
  }

  /** Rows that buy the same follow each other: the same object then, and no new text. */
  private purchaseOf(head: HeadScanner): Purchase {
    const { kind, endpoint, resolution } = this.purchase;
    const found = {
      kind: head.word('kind', [kind]),
      endpoint: head.word('endpoint', [endpoint]),
      resolution: head.word('resolution', [resolution]),
    };
    const isSame = found.kind === kind && found.endpoint === endpoint && found.resolution === resolution;
    if (!isSame) this.purchase = found;
    return this.purchase;
  }

  /** Only an intent without an answer can be refused. */
  private takeRefusal(row: number): void {
    if (this.statusAt(row) !== 'sent') return;
    this.tally.unbook(row);
    this.setStatus(row, 'open');
  }

  private takeOutcome(row: number, head: HeadScanner, offset: number): void {
    const failed = head.word('status', ends) === 'failed';
    this.table.outcomeAt.set(row, offset + 1);
    this.tally.settle(row, head.word('source', sources), head.number('cost'));
    this.tally.statusCalls += head.number('statusCalls') || 0;
    this.flag(row, beforeRepair, false);
    this.setStatus(row, failed ? head.word('code', failures) : 'completed');
  }

  private takeReopening(row: number, to: string, why: string): void {
    if (to === 'buy') {
      if (why === 'settle') this.tally.unbook(row);
      else this.tally.close(row);
      return this.setStatus(row, 'open');
    }
    this.tally.reserveAgain(row);
    this.setStatus(row, to === 'poll' ? 'accepted' : 'replied');
  }

  private takeRun(record: JournalRecord, line: () => Buffer): void {
    switch (record.k) {
      case 'start':
        return this.takeStart(record, line());
      case 'stop':
        this.lastStop = { at: record.at, exitCode: record.exitCode };
        return;
      case 'repaired':
        this.repairs++;
        if (record.missing === 0) return;
        this.heldUpToRow = Math.max(this.heldUpToRow ?? 0, record.heldUpToRow);
        for (let row = 0; row < this.table.length; row++) this.flag(row, beforeRepair, true);
        return;
      default:
        throw unknownKind(record.k);
    }
  }

  private takeStart(record: RecordOf<'start'>, line: Buffer): void {
    const { format } = JSON.parse(line.toString()) as { format?: number };
    if (format !== undefined && format > journalFormat) throw newerFormat(format);
    this.starts++;
    this.identity = record.identity;
    this.firstStartAt ??= record.at;
    this.lastStartAt = record.at;
    this.lastStop = undefined;
  }

  private setStatus(row: number, status: RowStatus): void {
    const byte = statusByte(status);
    if (byte === undefined) throw unknownWord('failure code', status);
    this.table.status.set(row, byte);
  }

  private flag(row: number, bit: number, on: boolean): void {
    const flags = this.table.flags.get(row);
    this.table.flags.set(row, on ? flags | bit : flags & ~bit);
  }
}

export function newerFormat(format: number): JournalError {
  const message = `The journal is of format ${format}, and this millrace reads up to ${journalFormat}: it was written by a newer one; go on with that.`;
  return new JournalError('journal-newer', message);
}

function unknownKind(kind: string): JournalError {
  return unknownWord('record kind', kind);
}

/** Taken for something else it could be bought again: better not to go on. */
function unknownWord(what: string, word: string): JournalError {
  const message = `The journal has the ${what} "${word}", which this millrace does not know: it was written by a newer one; go on with that.`;
  return new JournalError('journal-newer', message);
}
