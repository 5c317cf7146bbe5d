import { inTransaction, type Database, type Transaction } from './database.js';
import { lockRows } from './row-record.js';
import { RunChange } from './run-change.js';

export interface WorkerState {
  readonly worker: string;
  readonly host: string;
  readonly pid: number;
  /** In ms since the epoch. */
  readonly startedAt: number;
  /** Ms since it was last heard of. */
  readonly seenMsAgo: number;
  /** What it does, a piece after the other: how many of each it is at. */
  readonly does: { readonly submits: number; readonly polls: number; readonly downloads: number };
}

export type WorkerFacts = Pick<WorkerState, 'worker' | 'host' | 'pid' | 'does'>;

/** Says that the worker is alive, and what it is at. */
export async function noteWorker(on: Transaction, { worker, host, pid, does }: WorkerFacts): Promise<void> {
  await on.query(
    `insert into millrace.workers (worker, host, pid, does, seen_at) values ($1, $2, $3, $4, clock_timestamp())
     on conflict (worker) do update set does = excluded.does, seen_at = excluded.seen_at`,
    [worker, host, pid, JSON.stringify(does)],
  );
}

/** It has nothing in hand any more. */
export async function forgetWorker(on: Transaction, worker: string): Promise<void> {
  await on.query('delete from millrace.workers where worker = $1', [worker]);
}

/**
 * Gives back the rows that stand in the worker's name and that it knows nothing of: the connection broke while its
 * intents were committed, so nothing of them was sent.
 */
export async function giveBack(
  database: Database,
  run: number,
  { worker, known }: { worker: string; known: ReadonlySet<string> },
): Promise<void> {
  await inTransaction(database.pool, async (on) => {
    const change = await RunChange.begin(database, on, run);
    for (const row of await lockRows(on, run, { workers: [worker] })) {
      if (known.has(row.piece)) continue;
      const isSent = row.state === 'sent';
      const free = change.put(row, { worker: null, ...(isSent && { state: 'open' }) });
      change.schedule(isSent ? 'submit' : 'download', free, 0);
    }
    await change.save();
  });
}
