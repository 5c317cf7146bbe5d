import { inTransaction, type Database } from '../records/database.js';
import { lockGate, saveGate, afterTurns, turnsAt } from '../records/gate-record.js';
import { fetchItems, type WorkData } from '../records/work-queue.js';
import { peekRows, type RowRecord } from '../records/row-record.js';

/** A work item that is due. */
export interface DueItem {
  readonly item: string;
  readonly data: WorkData;
  /** Its row; `undefined`: the row is gone. */
  readonly row: RowRecord | undefined;
  /** Ms until its turn at the gate. */
  readonly sendInMs: number;
}

/** Polls may take turns further ahead than submits, so that they go first. */
const horizonMs = 500;

/** Polls that are due, each with a turn at the gate. */
export async function takePolls(
  database: Database,
  run: number,
  { most, isOpen }: { most: number; isOpen: boolean },
): Promise<readonly DueItem[]> {
  const queue = { run, kind: 'poll' } as const;
  const { pool, boss } = database;
  if (isOpen) return withRows(database, run, await fetchItems(boss, pool, queue, most));
  return inTransaction(pool, async (on) => {
    const gate = await lockGate(on, run);
    const turns = turnsAt(gate, most, horizonMs);
    const fetched = await fetchItems(boss, on, queue, turns.count);
    await saveGate(on, run, afterTurns(gate, { ...turns, count: fetched.length }));
    const due = await withRows({ pool: on }, run, fetched);
    return due.map((item, place) => ({ ...item, sendInMs: turns.firstInMs + place * turns.everyMs }));
  });
}

/** Rows whose picture is to be saved by this worker. */
export async function takeDownloads(
  database: Database,
  run: number,
  { most, worker }: { most: number; worker: string },
): Promise<readonly DueItem[]> {
  return inTransaction(database.pool, async (on) => {
    const fetched = await fetchItems(database.boss, on, { run, kind: 'download' }, most);
    const items = fetched.map(({ item }) => item);
    const text = `update millrace.rows set worker = $2 where run = $1 and piece = any($3) and state = 'saving'`;
    if (items.length > 0) await on.query(text, [run, worker, items]);
    return withRows({ pool: on }, run, fetched);
  });
}

/** Takes a turn at the gate for a request that has none. `inMs`: until the turn, or until it is worth asking again. */
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
  fetched: readonly { readonly item: string; readonly data: WorkData }[],
): Promise<DueItem[]> {
  if (fetched.length === 0) return [];
  const rows = await peekRows(
    pool,
    run,
    fetched.map(({ item }) => item),
  );
  const byItem = new Map(rows.map((row) => [row.item, row]));
  return fetched.map(({ item, data }) => ({ item, data, row: byItem.get(item), sendInMs: 0 }));
}
