import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowStatus } from './row-status.js';
import type { PendingRow, Recovered } from '../journal/journal.js';
import type { OutcomeRecord, RecordOf } from '../journal/record.js';
import { isToldPurchase } from './told-purchase.js';

/** Of the rows that are held, for people. */
const idsKept = 3;

interface Account {
  purchases: number;
  reported: MicroDollars;
  estimated: MicroDollars;
  unknown: MicroDollars;
}

/** Counts and money over all starts: what the journal had, and what this start adds. */
export class RunTotals {
  readonly ended = new Map<'completed' | FailureCode, number>();
  readonly money: Account = { purchases: 0, reported: 0, estimated: 0, unknown: 0 };
  readonly byResolution = new Map<string, Account>();
  possiblyDouble: MicroDollars;
  unpriced: number;
  statusCalls: number;
  /** Of this start alone. */
  readonly now = { ended: 0, completed: 0, failed: 0, unknown: 0, invalid: 0, held: [] as string[] };

  /** Rows whose results were gone, and that are asked for once more. */
  private readonly asked = new Set<string>();

  constructor({ totals, pending }: Pick<Recovered, 'totals' | 'pending'>) {
    for (const [status, count] of totals.rows) if (hasEnded(status)) this.ended.set(status, count);
    Object.assign(this.money, { ...totals.spent, purchases: totals.purchases, unknown: totals.unknown });
    for (const [resolution, account] of totals.byResolution)
      this.byResolution.set(resolution, { ...account });
    this.possiblyDouble = totals.possiblyDouble;
    this.unpriced = totals.unpriced;
    this.statusCalls = totals.statusCalls;
    for (const row of pending.values()) this.setApart(row);
  }

  /** What the journal counts of a row on its way is counted when the row ends. */
  private setApart(row: PendingRow): void {
    const { reply, intent } = row;
    if (row.status !== 'replied' || reply === undefined) {
      if (row.price === null) this.unpriced--;
    } else if (reply.source === 'none' || isToldPurchase(row)) return;
    else if (reply.cost === null) this.unpriced--;
    else this.book(intent.resolution ?? '', reply.source, reply.cost, -1);
  }

  /** A row has ended. */
  end(outcome: OutcomeRecord): void {
    const status = statusOf(outcome);
    this.count(status, 1);
    // What it was before is no news.
    if (status === 'expired' && this.asked.delete(outcome.id)) return this.addPurchase(outcome);
    this.now.ended++;
    this.now[status === 'completed' ? 'completed' : 'failed']++;
    if (status === 'unknown') {
      this.now.unknown++;
      if (this.now.held.length < idsKept) this.now.held.push(outcome.id);
    }
    if (status === 'invalid-row') this.now.invalid++;
    this.addPurchase(outcome);
  }

  /** A row that ended as `expired` is asked for once more: if it ends so again, this start says nothing of it. */
  askAgain(id: string): void {
    this.asked.add(id);
  }

  /** A purchase has ended, and its row has not: it is bought again. */
  addPurchase({ cost, source, purchase, statusCalls }: OutcomeRecord): void {
    this.statusCalls += statusCalls;
    if (purchase === undefined || source === 'none') return;
    if (cost === null) this.unpriced++;
    // What nobody knows the price of is held, at nothing.
    this.book(purchase.resolution ?? '', cost === null ? 'unknown' : source, cost ?? 0, 1);
  }

  /** The same, where what ended may have been paid. */
  addDouble(outcome: OutcomeRecord): void {
    this.addPurchase(outcome);
    this.possiblyDouble += outcome.cost ?? 0;
  }

  /** A row that had ended is taken up again. What was held for it is reserved again, or stays held for good. */
  reopen(outcome: OutcomeRecord, to: 'poll' | 'download' | 'buy'): void {
    this.count(statusOf(outcome), -1);
    if (outcome.source !== 'unknown') return;
    const held = outcome.cost ?? 0;
    if (to === 'buy') this.possiblyDouble += held;
    else this.book(outcome.purchase?.resolution ?? '', 'unknown', held, -1);
  }

  /** A person has said that what was held was never bought. */
  giveBack(outcome: OutcomeRecord): void {
    this.count(statusOf(outcome), -1);
    if (outcome.source === 'unknown')
      this.book(outcome.purchase?.resolution ?? '', 'unknown', outcome.cost ?? 0, -1);
  }

  /** A person has decided on a purchase that was held, of a row that was bought again since. */
  free({ price, cost, source, resolution = '' }: RecordOf<'freed'>): void {
    if (price === null) this.unpriced--;
    this.possiblyDouble -= price ?? 0;
    this.book(resolution, 'unknown', price ?? 0, -1);
    if (source === 'reported') this.book(resolution, source, cost ?? 0, 1);
  }

  private count(status: 'completed' | FailureCode, by: 1 | -1): void {
    this.ended.set(status, Math.max((this.ended.get(status) ?? 0) + by, 0));
  }

  private book(
    resolution: string,
    source: 'reported' | 'estimated' | 'unknown',
    amount: number,
    sign: 1 | -1,
  ): void {
    const account = this.byResolution.get(resolution) ?? {
      purchases: 0,
      reported: 0,
      estimated: 0,
      unknown: 0,
    };
    this.byResolution.set(resolution, account);
    for (const sums of [this.money, account]) {
      sums[source] += sign * amount;
      if (source !== 'unknown') sums.purchases += sign;
    }
  }
}

function statusOf(outcome: OutcomeRecord): 'completed' | FailureCode {
  return outcome.status === 'completed' ? 'completed' : outcome.error.code;
}

function hasEnded(status: RowStatus): status is 'completed' | FailureCode {
  return status === 'completed' || Object.hasOwn(failureCodes, status);
}
