import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { CostSource } from '../../batch/journal/record.js';
import type { Database, Transaction } from './database.js';
import { lockLedger, saveLedger, type LedgerRecord } from './ledger-record.js';
import {
  dropPieces,
  pieceKinds,
  schedulePieces,
  type Piece,
  type PieceData,
  type PieceKind,
} from './work-queue.js';
import { asJson, saveRows, type Ending, type RowPlace, type RowRecord } from './row-record.js';

/** What of a row may change. */
export type RowPatch = Partial<Omit<RowRecord, 'key' | 'piece' | 'brief' | 'listed' | 'takes' | 'seq'>>;

/**
 * One change of a run: rows, the money and counts that follow from them, and their pieces, all in one transaction. Rows
 * are locked by whoever changes them, after the ledger.
 */
export class RunChange {
  private readonly rows = new Map<string, RowRecord>();
  private readonly scheduled = new Map<PieceKind, Map<string, Piece>>();
  private readonly dropped = new Map<PieceKind, Set<string>>();
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

  /** Changes a row; what is reserved and how many rows are where follows. */
  put(row: RowRecord, patch: RowPatch): RowRecord {
    const next = { ...row, ...patch };
    this.rows.set(row.key, next);
    this.count(row.state, -1);
    this.count(next.state, 1);
    this.ledger.reserved += reservedFor(next) - reservedFor(row);
    return next;
  }

  /** Ends a row. What it cost is booked, unless that was done when its reply came. */
  end(row: RowRecord, ending: Ending): RowRecord {
    const ended = this.put(row, { state: 'ended', ending, worker: null, reply: null });
    if (row.reply === null) this.book(costIn(ending), 1);
    return this.place(ended);
  }

  /** Its purchase has ended in doubt, and the row goes on: what may have been paid stays held for good. */
  doubt(row: RowRecord, ending: Ending): void {
    this.book(costIn(ending), 1);
    this.doubles.push({ ...row, ending, seq: ++this.ledger.outcomes });
  }

  /** Paid, and its picture is still to be saved by a worker. */
  paid(row: RowRecord, reply: NonNullable<RowRecord['reply']>): RowRecord {
    this.book(reply, 1);
    return this.put(row, { state: 'saving', reply, worker: null });
  }

  /** What was held or spent for an ending that is taken back. */
  unbook(ending: Ending): void {
    this.book(costIn(ending), -1);
  }

  /** Takes an ending back: the row has ended no more. */
  reopen(row: RowRecord, patch: RowPatch): RowRecord {
    return this.put({ ...row, seq: null }, { ...patch, ending: null });
  }

  schedule(kind: PieceKind, { piece }: RowRecord, afterMs: number, data?: PieceData): void {
    const pieces = this.scheduled.get(kind) ?? new Map<string, Piece>();
    this.scheduled.set(kind, pieces.set(piece, { piece, afterMs, ...(data && { data }) }));
    this.dropped.get(kind)?.delete(piece);
  }

  drop(kind: PieceKind, piece: string): void {
    const pieces = this.dropped.get(kind) ?? new Set<string>();
    this.dropped.set(kind, pieces.add(piece));
    this.scheduled.get(kind)?.delete(piece);
  }

  /** Writes all of it. */
  async save(): Promise<void> {
    const { boss, on, run } = this;
    await saveRows(on, run, [...this.rows.values()]);
    await this.saveDoubles();
    await saveLedger(on, run, this.ledger);
    for (const kind of pieceKinds) {
      await dropPieces(boss, on, { run, kind }, [...(this.dropped.get(kind) ?? [])]);
      await schedulePieces(boss, on, { run, kind }, [...(this.scheduled.get(kind)?.values() ?? [])]);
    }
  }

  private place(row: RowRecord): RowRecord {
    const placed = { ...row, seq: ++this.ledger.outcomes };
    this.rows.set(row.key, placed);
    return placed;
  }

  private count(state: RowPlace, by: 1 | -1): void {
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
