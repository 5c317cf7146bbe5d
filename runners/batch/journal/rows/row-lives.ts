import { failureCodes } from '../../../../src/contract/failure-code.js';
import type { FailureCode } from '../../../../src/contract/failure-code.js';
import { field } from '../line/fields.js';
import type { HeadScanner } from '../line/head-scanner.js';
import { JobHashes } from './job-hashes.js';
import { unknownKind, unknownWord } from '../newer-journal.js';
import { isCostByHand, type CostSource, type JournalRecord } from '../record.js';
import { bookings, nothing } from '../../row/accounts.js';
import type { Purchase } from '../../row/accounts.js';
import { statusBytes, statusOf } from '../../row/row-status.js';
import type { RowStatus } from '../../row/row-status.js';
import { rowFlags } from './row-table.js';
import type { RowTable } from './row-table.js';
import { Tally } from '../../row/tally.js';

/** The words that a head may hold, the most frequent in front. */
const sources: readonly CostSource[] = ['reported', 'estimated', 'unknown', 'none'];
const takings = ['', 'job', 'picture'] as const;
const ends = ['completed', 'failed'] as const;
const failures = Object.keys(failureCodes) as FailureCode[];

/** What each record makes of its row: its state, its money, and where its last records lie. */
export class RowLives {
  readonly tally: Tally;
  /** All jobs that rows had. */
  readonly jobs = new JobHashes();
  /** Largest row number seen. */
  lastRow = 0;
  private purchase = nothing;

  constructor(private readonly table: RowTable) {
    this.tally = new Tally(table);
  }

  /** Takes in a record of a row that begins at `offset` of the file. */
  take(kind: JournalRecord['k'], head: HeadScanner, offset: number): void {
    const row = this.table.add(head.id);
    if (kind !== 'intent') this.takeJob(row, head);
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
        this.tally.settle(row, head.word(field.source, sources), head.number(field.cost));
        return this.setStatus(row, 'replied');
      case 'outcome':
        return this.takeOutcome(row, head, offset);
      case 'reopen':
        return this.takeReopening(row, head.word(field.to), head.word(field.why));
      case 'freed':
        return this.takeFreeing(head);
      default:
        throw unknownKind(kind);
    }
  }

  statusAt(row: number): RowStatus {
    return statusOf(this.table.status.get(row));
  }

  setStatus(row: number, status: RowStatus): void {
    this.table.status.set(row, statusBytes[status]);
  }

  private takeJob(row: number, head: HeadScanner): void {
    const jobId = head.hashOf(field.jobId);
    if (jobId !== undefined) this.jobs.take(this.tally.purchaseOf(row).endpoint, jobId);
  }

  private takeIntent(row: number, head: HeadScanner, offset: number): void {
    const taken = head.word(field.takes, takings);
    if (taken === '') this.beginPurchase(row);
    if (this.tally.bookingOf(row) === bookings.none) {
      this.tally.setPurchase(row, this.purchaseOf(head));
      this.tally.book(row, bookings.reserved, head.number(field.price));
    }
    this.table.intentAt.set(row, offset + 1);
    this.table.replyAt.set(row, 0);
    this.table.setAttempts(row, head.number(field.attempt));
    this.table.content.set(row, head.bits(field.hash));
    this.table.setFlag(row, rowFlags.beforeRepair, false);
    this.lastRow = Math.max(this.lastRow, head.number(field.row));
    // What buys nothing waits for no answer: its job, or its picture, is known already.
    this.setStatus(row, taken === '' ? 'sent' : taken === 'job' ? 'accepted' : 'replied');
  }

  /** Nothing of an earlier purchase belongs to this one. */
  private beginPurchase(row: number): void {
    this.tally.close(row);
    this.table.acceptedAt.set(row, 0);
    this.table.outcomeAt.set(row, 0);
  }

  /** Only an intent without an answer can be refused. */
  private takeRefusal(row: number): void {
    if (this.statusAt(row) !== 'sent') return;
    this.tally.unbook(row);
    this.setStatus(row, 'open');
  }

  private takeOutcome(row: number, head: HeadScanner, offset: number): void {
    const status = head.word(field.status, ends) === 'failed' ? failureOf(head) : 'completed';
    this.table.outcomeAt.set(row, offset + 1);
    const isByHand = isCostByHand(status);
    const isWithoutIntent = this.tally.bookingOf(row) === bookings.none && head.word(field.endpoint) !== '';
    if (isWithoutIntent) this.tally.setPurchase(row, this.purchaseOf(head));
    this.tally.settle(row, head.word(field.source, sources), head.number(field.cost), isByHand);
    this.tally.statusCalls += head.number(field.statusCalls) || 0;
    this.table.setFlag(row, rowFlags.beforeRepair, false);
    this.setStatus(row, status);
  }

  private takeReopening(row: number, to: string, why: string): void {
    if (why === 'redo')
      this.table.replaced.set(row, [...(this.table.replaced.get(row) ?? []), this.table.content.get(row)]);
    if (to === 'buy') {
      if (why === 'settle') this.tally.unbook(row);
      else this.tally.close(row);
      return this.setStatus(row, 'open');
    }
    this.tally.reserveAgain(row);
    this.setStatus(row, to === 'poll' ? 'accepted' : 'replied');
  }

  /** Of an earlier purchase: the row goes on as it is. */
  private takeFreeing(head: HeadScanner): void {
    const isPaid = head.word(field.source, sources) === 'reported';
    this.tally.free(this.purchaseOf(head), {
      held: head.number(field.price),
      paid: isPaid ? head.number(field.cost) : undefined,
    });
  }

  /** Rows that buy the same follow each other: the same object then, and no new text. */
  private purchaseOf(head: HeadScanner): Purchase {
    const { kind, endpoint, resolution } = this.purchase;
    const found = {
      kind: head.word(field.kind, [kind]),
      endpoint: head.word(field.endpoint, [endpoint]),
      resolution: head.word(field.resolution, [resolution]),
    };
    const isSame = found.kind === kind && found.endpoint === endpoint && found.resolution === resolution;
    if (!isSame) this.purchase = found;
    return this.purchase;
  }
}

function failureOf(head: HeadScanner): FailureCode {
  const code = head.word(field.code, failures);
  if (!Object.hasOwn(statusBytes, code)) throw unknownWord('failure code', code);
  return code;
}
