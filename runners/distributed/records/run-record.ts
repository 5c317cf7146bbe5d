import { whyBlocked } from '../../batch/stop/stop-causes.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { worstEnd } from '../../batch/stop/worst-end.js';
import { inTransaction, type Database, type Transaction, wakeWorkers } from './database.js';
import type { RunTerms } from './run-terms.js';
import { dropItems, makeQueues } from './work-queue.js';

export interface OpenedRun {
  readonly run: number;
  /** Starts so far, this one included. */
  readonly starts: number;
  /** The terms of the previous start; absent at the first one. */
  readonly before?: RunTerms;
}

/** Creates a run, or begins another start of it. */
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
  const withdrawn = await on.query<{ item: string }>(
    `update millrace.rows set state = 'left', refusals = 0 where run = $1 and state = 'open' returning piece as item`,
    [run],
  );
  await on.query('update millrace.ledgers set open = 0 where run = $1', [run]);
  const items = withdrawn.rows.map(({ item }) => item);
  await dropItems(boss, on, { run, kind: 'submit' }, items);
  return { run, starts: starts + 1, ...(starts > 0 && { before }) };
}

/** Stops a run. Of several causes the most important one stays; what any of them leaves undone is left. */
export async function stopRun(on: Transaction, run: number, cause: StopCause): Promise<void> {
  const { rows } = await on.query<{ stop: StopCause | null }>(
    'select stop from millrace.runs where run = $1 for update',
    [run],
  );
  const before = rows[0]?.stop ?? cause;
  const ends = [before, cause].map(({ exitCode, reason }) => ({ exitCode, reason }));
  const leaves = [...new Set([...before.leaves, ...cause.leaves])];
  await on.query('update millrace.runs set stop = $2 where run = $1', [
    run,
    JSON.stringify({ ...worstEnd(ends), leaves }),
  ]);
}

interface Found {
  readonly terms: RunTerms;
  readonly blocked: Record<string, string>;
}

/** The service does not know the endpoint: its rows are left. When no endpoint and no route remains, the run stops. */
export async function blockEndpoint(
  { pool }: Database,
  run: number,
  endpoint: string,
  message: string,
): Promise<void> {
  await inTransaction(pool, async (on) => {
    const text = 'select terms, blocked from millrace.runs where run = $1 for update';
    const [found] = (await on.query<Found>(text, [run])).rows;
    if (found === undefined) return;
    const blocked = { ...found.blocked, [endpoint]: message };
    await on.query('update millrace.runs set blocked = $2 where run = $1', [run, JSON.stringify(blocked)]);
    const cause = whyBlocked(found.terms, Object.keys(blocked), message);
    if (cause !== undefined) await stopRun(on, run, cause);
  });
}
