import { inTransaction, type Database, type Transaction } from './database.js';
import { lockRows } from './row-record.js';
import { RunChange } from './run-change.js';

export interface WorkerState {
  readonly worker: string;
  readonly host: string;
  readonly pid: number;
  /** In ms since the epoch. */
  readonly startedAt: number;
  /** Ms since its last heartbeat. */
  readonly seenMsAgo: number;
  /** How many work items of each kind it holds. */
  readonly does: { readonly submits: number; readonly polls: number; readonly downloads: number };
}

export type WorkerFacts = Pick<WorkerState, 'worker' | 'host' | 'pid' | 'does'>;

/** The heartbeat of a worker: it is alive, and this is what it does. */
export async function noteWorker(on: Transaction, { worker, host, pid, does }: WorkerFacts): Promise<void> {
  await on.query(
    `insert into millrace.workers (worker, host, pid, does, seen_at) values ($1, $2, $3, $4, clock_timestamp())
     on conflict (worker) do update set does = excluded.does, seen_at = excluded.seen_at`,
    [worker, host, pid, JSON.stringify(does)],
  );
}

/** The worker has left, and holds nothing any more. */
export async function forgetWorker(on: Transaction, worker: string): Promise<void> {
  await on.query('delete from millrace.workers where worker = $1', [worker]);
}

/**
 * Gives back the rows that the database assigns to the worker and that the worker does not know: the connection broke while
 * their intents were committed, so nothing was sent.
 */
export async function giveBack(
  database: Database,
  run: number,
  { worker, known }: { worker: string; known: ReadonlySet<string> },
): Promise<void> {
  await inTransaction(database.pool, async (on) => {
    const change = await RunChange.begin(database, on, run);
    for (const row of await lockRows(on, run, { workers: [worker] })) {
      if (known.has(row.item)) continue;
      const isSent = row.state === 'sent';
      const free = change.put(row, { worker: null, ...(isSent && { state: 'open' }) });
      change.schedule(isSent ? 'submit' : 'download', free, 0);
    }
    await change.save();
  });
}
