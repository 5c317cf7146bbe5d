import { failedRecord, purchaseFacts, rowError } from '../../batch/row/records-of.js';
import { retriesUnknown } from '../../batch/row/decide-row.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { inTransaction, type Database, type Transaction } from '../records/database.js';
import { lockRows, type Ending, type RowRecord } from '../records/row-record.js';
import { RunChange } from '../records/run-change.js';
import type { RunTerms } from '../records/run-terms.js';
import { deadAfterMs, runsyncGrace } from '../records/worker-record.js';

/** Rows that dead workers hold. */
const abandoned = `select rows.run, rows.piece as item from millrace.rows
  join millrace.runs using (run) left join millrace.workers w on w.worker = rows.worker
  where rows.worker is not null and (w.worker is null or w.seen_at < clock_timestamp() - interval '1 ms' * ($1::float8 + ${runsyncGrace}))
  order by rows.run, rows.id limit 1000`;

/**
 * Releases what dead workers held: a row that was sent without an answer ends as unknown and is never sent again; the rest
 * goes to other workers. Each worker does this now and then; any process may do it at any time.
 */
export async function sweep(database: Database, patienceMs = deadAfterMs): Promise<void> {
  const { pool, boss } = database;
  await boss.expire();
  const { rows } = await pool.query<{ run: number; item: string }>(abandoned, [patienceMs]);
  for (const run of new Set(rows.map((row) => row.run))) {
    const items = rows.filter((row) => row.run === run).map(({ item }) => item);
    await inTransaction(pool, (on) => release(database, on, run, { items, patienceMs }));
  }
  await pool.query(`delete from millrace.workers where seen_at < now() - interval '1 day'`);
}

async function release(
  database: Database,
  on: Transaction,
  run: number,
  found: { items: readonly string[]; patienceMs: number },
): Promise<void> {
  const change = await RunChange.begin(database, on, run);
  const rules = await readRunRules(on, run);
  if (rules === undefined) return;
  // Their worker may have come back, or answered, during the wait for the lock.
  const still = new Set(
    (await on.query<{ item: string }>(abandoned, [found.patienceMs])).rows.map((row) => row.item),
  );
  for (const row of await lockRows(on, run, { items: found.items }))
    if (still.has(row.item)) letGo(change, row, rules);
  await change.save();
}

function letGo(change: RunChange, row: RowRecord, rules: RunRules): void {
  if (row.state === 'saving') {
    change.schedule('download', change.put(row, { worker: null }), 0);
    return;
  }
  if (row.state !== 'sent') return;
  if (row.brief.isRead) {
    change.schedule('submit', change.put(row, { state: 'open', worker: null }), 0);
    return;
  }
  endAsUnknown(change, row, unknownEnding(row, change.ledger.now), rules);
}

/** Ends a row that may have been accepted, or sends it again if the user prefers that. */
export function endAsUnknown(
  change: RunChange,
  row: RowRecord,
  ending: Ending,
  { terms, stop }: RunRules,
): void {
  if (stop === null && retriesUnknown(terms, row.doubles)) sendAgain(change, row, ending);
  else change.end(row, ending);
}

interface RunRules {
  readonly terms: RunTerms;
  readonly stop: StopCause | null;
}

export async function readRunRules(on: Transaction, run: number): Promise<RunRules | undefined> {
  const { rows } = await on.query<RunRules>('select terms, stop from millrace.runs where run = $1', [run]);
  return rows[0];
}

/** Sends a row again that may have been accepted: the user prefers to risk paying twice. */
export function sendAgain(change: RunChange, row: RowRecord, ending: Ending): void {
  change.keepUnknown(row, ending);
  const open = change.put(row, { state: 'open', worker: null, doubles: row.doubles + 1 });
  change.schedule('submit', open, 0);
}

const workerIsGone =
  'The worker that sent it is gone, and no answer came: it may have been accepted, so it is not sent again.';

/** The ending of a row that may have been accepted under an id that is not known. */
export function unknownEnding(
  { brief, attempt, price, submittedAt }: RowRecord,
  at: number,
  message = workerIsGone,
): Ending {
  const outcome = failedRecord(brief.id, rowError({ code: 'unknown', paid: 'maybe', message }), {
    ...{ at, cost: price, source: 'unknown', statusCalls: 0, submittedAt: submittedAt ?? at },
    purchase: purchaseFacts(brief, { attempt, settledAt: at }),
  });
  return { outcome };
}

/** Once the database is back, every live worker has sent a heartbeat within this many ms. */
const graceMs = 15_000;

/**
 * A sweep for every few seconds. While the database is away no worker can send a heartbeat, so none is taken for dead until
 * the database has been back for a while.
 */
export function createSweeper(database: Database, now: () => number): () => Promise<void> {
  let isBroken = false;
  let steadySince = -Infinity;
  return async () => {
    try {
      await database.pool.query('select 1');
      if (isBroken) steadySince = now();
      isBroken = false;
      if (now() - steadySince >= graceMs) await sweep(database);
    } catch (error) {
      isBroken = true;
      throw error;
    }
  };
}
