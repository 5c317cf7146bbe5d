import { inTransaction, type Database } from '../records/database.js';
import { lockGate, saveGate, afterTurns, turnsAt } from '../records/gate-record.js';
import { fetchPieces, type PieceData } from '../records/work-queue.js';
import { peekRows, type RowRecord } from '../records/row-record.js';

/** A piece that is due. */
export interface DuePiece {
  readonly piece: string;
  readonly data: PieceData;
  /** Its row; `undefined`: it is gone. */
  readonly row: RowRecord | undefined;
  /** Its turn at the gate, in ms from now. */
  readonly sendInMs: number;
}

/** Polls may reach further ahead than submissions, so that they go first. */
const horizonMs = 500;

/** Polls that are due, each with a turn at the gate. */
export async function takePolls(
  database: Database,
  run: number,
  { most, isOpen }: { most: number; isOpen: boolean },
): Promise<readonly DuePiece[]> {
  const queue = { run, kind: 'poll' } as const;
  const { pool, boss } = database;
  if (isOpen) return withRows(database, run, await fetchPieces(boss, pool, queue, most));
  return inTransaction(pool, async (on) => {
    const gate = await lockGate(on, run);
    const turns = turnsAt(gate, most, horizonMs);
    const fetched = await fetchPieces(boss, on, queue, turns.count);
    await saveGate(on, run, afterTurns(gate, { ...turns, count: fetched.length }));
    const due = await withRows({ pool: on }, run, fetched);
    return due.map((piece, place) => ({ ...piece, sendInMs: turns.firstInMs + place * turns.everyMs }));
  });
}

/** Rows whose picture is to be saved by this worker. */
export async function takeDownloads(
  database: Database,
  run: number,
  { most, worker }: { most: number; worker: string },
): Promise<readonly DuePiece[]> {
  return inTransaction(database.pool, async (on) => {
    const fetched = await fetchPieces(database.boss, on, { run, kind: 'download' }, most);
    const pieces = fetched.map(({ piece }) => piece);
    const text = `update millrace.rows set worker = $2 where run = $1 and piece = any($3) and state = 'saving'`;
    if (pieces.length > 0) await on.query(text, [run, worker, pieces]);
    return withRows({ pool: on }, run, fetched);
  });
}

/** A turn at the gate for a request that nobody has taken one for. Ms to wait, or until it is worth asking again. */
export async function takeTurn(
  { pool }: Database,
  run: number,
): Promise<{ readonly granted: boolean; readonly inMs: number }> {
  return inTransaction(pool, async (on) => {
    const gate = await lockGate(on, run);
    const turns = turnsAt(gate, 1, horizonMs);
    await saveGate(on, run, afterTurns(gate, turns));
    return turns.count > 0 ? { granted: true, inMs: turns.firstInMs } : { granted: false, inMs: horizonMs };
  });
}

async function withRows(
  { pool }: { readonly pool: Pick<Database['pool'], 'query'> },
  run: number,
  fetched: readonly { readonly piece: string; readonly data: PieceData }[],
): Promise<DuePiece[]> {
  if (fetched.length === 0) return [];
  const rows = await peekRows(
    pool,
    run,
    fetched.map(({ piece }) => piece),
  );
  const byPiece = new Map(rows.map((row) => [row.piece, row]));
  return fetched.map(({ piece, data }) => ({ piece, data, row: byPiece.get(piece), sendInMs: 0 }));
}
