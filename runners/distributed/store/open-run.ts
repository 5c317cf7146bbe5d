import { inTransaction, type Database, type Transaction } from './database.js';
import { dropPieces, makeQueues } from './pieces.js';
import type { OpenedRun } from './run-store.js';
import type { RunTerms } from './run-terms.js';
import { wakeWorkers } from './wake-workers.js';

/** Begins a run, or another start of it. */
export async function openRun(database: Database, key: string, terms: RunTerms): Promise<OpenedRun> {
  const { pool } = database;
  const made = await pool.query<{ run: number }>(
    `insert into millrace.runs (key, terms, starts) values ($1, $2, 0)
     on conflict (key) do update set key = excluded.key returning run`,
    [key, JSON.stringify(terms)],
  );
  const run = made.rows[0]?.run ?? 0;
  await makeQueues(database, run);
  const opened = await inTransaction(pool, (on) => begin(database, on, run, terms));
  await wakeWorkers(pool);
  return opened;
}

async function begin({ boss }: Database, on: Transaction, run: number, terms: RunTerms): Promise<OpenedRun> {
  const { concurrency, cap, rate } = terms;
  await on.query(
    `insert into millrace.ledgers (run, cap, concurrency) values ($1, $2, $3)
     on conflict (run) do update set cap = excluded.cap, concurrency = excluded.concurrency`,
    [run, cap, concurrency],
  );
  await on.query(
    `insert into millrace.gates (run, rate) values ($1, $2) on conflict (run) do update set rate = excluded.rate`,
    [run, rate],
  );
  const known = await on.query<{ starts: number; terms: RunTerms }>(
    'select starts, terms from millrace.runs where run = $1 for update',
    [run],
  );
  const { starts = 0, terms: before = terms } = known.rows[0] ?? {};
  await on.query(
    `update millrace.runs set terms = $2, starts = starts + 1, stop = null, blocked = '{}', fed_all = false,
      started_at = now() where run = $1`,
    [run, JSON.stringify(terms)],
  );
  const withdrawn = await on.query<{ piece: string }>(
    `update millrace.rows set state = 'left', refusals = 0 where run = $1 and state = 'open' returning piece`,
    [run],
  );
  await on.query('update millrace.ledgers set open = 0 where run = $1', [run]);
  const pieces = withdrawn.rows.map(({ piece }) => piece);
  await dropPieces(boss, on, { run, kind: 'submit' }, pieces);
  return { run, starts: starts + 1, ...(starts > 0 && { before }) };
}
