import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { CostSource } from '../../batch/journal/record.js';
import type { Database, Transaction } from './database.js';
import { lockLedger, saveLedger, type LedgerRecord } from './ledger-record.js';
import {
  dropItems,
  workKinds,
  scheduleItems,
  type WorkItem,
  type WorkData,
  type WorkKind,
} from './work-queue.js';
import { asJson, saveRows, type Ending, type StoredState, type RowRecord } from './row-record.js';

/** The columns of a row that can change. */
export type RowPatch = Partial<Omit<RowRecord, 'key' | 'item' | 'brief' | 'listed' | 'takes' | 'seq'>>;

/**
 * One change of a run in one transaction: rows, the money and counts that follow from them, and their work items. The caller
 * locks the rows, after `begin` has locked the ledger.
 */
export class RunChange {
  private readonly rows = new Map<string, RowRecord>();
  private readonly scheduled = new Map<WorkKind, Map<string, WorkItem>>();
  private readonly dropped = new Map<WorkKind, Set<string>>();
  private readonly doubles: RowRecord[] = [];

  private constructor(
    private readonly boss: Database['boss'],
    readonly on: Transaction,
    readonly run: number,
    readonly ledger: LedgerRecord,
  ) {}

  static async begin({ boss }: Database, on: Transaction, run: number): Promise<RunChange> {
    return new RunChange(boss, on, run, await lockLedger(on, run));
  }

  /** Changes a row. The reserved money and the counts follow. */
  put(row: RowRecord, patch: RowPatch): RowRecord {
    const next = { ...row, ...patch };
    this.rows.set(row.key, next);
    this.count(row.state, -1);
    this.count(next.state, 1);
    this.ledger.reserved += reservedFor(next) - reservedFor(row);
    return next;
  }

  /** Ends a row, and books its cost unless that was done when its reply came. */
  end(row: RowRecord, ending: Ending): RowRecord {
    const ended = this.put(row, { state: 'ended', ending, worker: null, reply: null });
    if (row.reply === null) this.book(costIn(ending), 1);
    return this.place(ended);
  }

  /** Its purchase ended as unknown, and the row is sent again: what may have been paid stays held for good. */
  keepUnknown(row: RowRecord, ending: Ending): void {
    this.book(costIn(ending), 1);
    this.doubles.push({ ...row, ending, seq: ++this.ledger.outcomes });
  }

  /** The row is paid, and a worker still has to save its picture. */
  paid(row: RowRecord, reply: NonNullable<RowRecord['reply']>): RowRecord {
    this.book(reply, 1);
    return this.put(row, { state: 'saving', reply, worker: null });
  }

  /** Takes back what was booked for an ending. */
  unbook(ending: Ending): void {
    this.book(costIn(ending), -1);
  }

  /** Takes the ending of a row back. */
  reopen(row: RowRecord, patch: RowPatch): RowRecord {
    return this.put({ ...row, seq: null }, { ...patch, ending: null });
  }

  schedule(kind: WorkKind, { item }: RowRecord, afterMs: number, data?: WorkData): void {
    const items = this.scheduled.get(kind) ?? new Map<string, WorkItem>();
    this.scheduled.set(kind, items.set(item, { item, afterMs, ...(data && { data }) }));
    this.dropped.get(kind)?.delete(item);
  }

  drop(kind: WorkKind, item: string): void {
    const items = this.dropped.get(kind) ?? new Set<string>();
    this.dropped.set(kind, items.add(item));
    this.scheduled.get(kind)?.delete(item);
  }

  /** Writes the whole change. */
  async save(): Promise<void> {
    const { boss, on, run } = this;
    await saveRows(on, run, [...this.rows.values()]);
    await this.saveDoubles();
    await saveLedger(on, run, this.ledger);
    for (const kind of workKinds) {
      await dropItems(boss, on, { run, kind }, [...(this.dropped.get(kind) ?? [])]);
      await scheduleItems(boss, on, { run, kind }, [...(this.scheduled.get(kind)?.values() ?? [])]);
    }
  }

  private place(row: RowRecord): RowRecord {
    const placed = { ...row, seq: ++this.ledger.outcomes };
    this.rows.set(row.key, placed);
    return placed;
  }

  private count(state: StoredState, by: 1 | -1): void {
    if (state === 'open') this.ledger.open += by;
    if (state === 'sent' || state === 'accepted') this.ledger.inFlight += by;
    if (state === 'saving') this.ledger.saving += by;
    if (state === 'ended') this.ledger.ended += by;
  }

  private book({ cost, source }: Cost, sign: 1 | -1): void {
    if (source === 'unknown') this.ledger.unknown += sign * (cost ?? 0);
    else if (source !== 'none') this.ledger.spent += sign * (cost ?? 0);
  }

  private async saveDoubles(): Promise<void> {
    for (const { key, attempt, price, submittedAt, ending, seq } of this.doubles) {
      await this.on.query(
        `insert into millrace.doubles (run, seq, id, facts, attempt, price, submitted_at, ending)
         select run, $3, id, facts, $4, $5, to_timestamp($6::float8 / 1000), $7 from millrace.rows where run = $1 and id = $2`,
        [this.run, key, seq, attempt, price, submittedAt, asJson(ending)],
      );
    }
  }
}

interface Cost {
  readonly cost: MicroDollars | null;
  readonly source: CostSource;
}

export function costIn({ reply, outcome }: Ending): Cost {
  return outcome ?? reply;
}

/** Reserved from before the POST until the cost is known. */
function reservedFor({ state, price }: RowRecord): MicroDollars {
  return state === 'sent' || state === 'accepted' ? (price ?? 0) : 0;
}
