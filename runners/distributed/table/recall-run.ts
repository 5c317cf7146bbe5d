import type { RowTask } from '../../batch/row/row-after.js';
import { inTransaction, type Transaction } from '../database/transaction.js';
import { queueSchema, queuesOf } from '../queue/row-queue.js';
import type { RunDatabase } from './run-ledger.js';
import { lockLedger, refuseTaken, RunTaken, saveLedger, type RunLedger } from './run-ledger.js';
import { stopRun } from './runs.js';
import { seatsOrRows } from './seats.js';

/**
 * Takes over a run for a new start, after which earlier starts can change nothing. Its workers are asked to give back the rows;
 * requests on the wire are awaited. Returns the number of the new start.
 */
export function recallRun({ pool }: RunDatabase, run: number): Promise<number> {
  const leaves = ['open', 'accepted', 'replied'] as const;
  const reason = new RunTaken().message;
  return inTransaction(pool, async (on) => {
    const ledger = await lockLedger(on, run);
    await saveLedger(on, run, { ...ledger, ...(await countRows(on, run)) });
    await stopRun(on, run, { exitCode: 75, reason, leaves });
    const { rows } = await on.query<{ start: number }>(
      'update millrace.runs set start = start + 1 where run = $1 returning start',
      [run],
    );
    return rows[0]?.start ?? 0;
  });
}

/** How many workers have a seat or rows of the run, and how many rows they have. */
export async function countSeats(
  { pool }: RunDatabase,
  run: number,
): Promise<{ seats: number; rows: number }> {
  const { rows } = await pool.query<{ seats: number; rows: number }>(
    `select (select count(*)::int from (${seatsOrRows}) s where s.run = l.run) as seats, in_flight as rows
     from millrace.ledgers l where run = $1`,
    [run],
  );
  return rows[0] ?? { seats: 0, rows: 0 };
}

/**
 * Deletes the rows that no worker has, because the folder's journal has everything about them. Returns how many rows workers
 * still have.
 *
 * @throws {RunTaken}
 */
export function withdrawRows({ pool, queue }: RunDatabase, run: number, start: number): Promise<number> {
  return inTransaction(pool, async (on) => {
    const ledger = await lockLedger(on, run);
    refuseTaken(ledger, start);
    const { values } = ledger;
    const { rows } = await on.query<{ item: string; task: string; reserved: number }>(
      `delete from millrace.rows where run = $1 and worker is null
       returning item, ${values.isUsed ? 'task' : `'' as task`}, reserved::float8`,
      [run],
    );
    if (values.isUsed)
      values.note(rows.map(({ item, task }) => ({ item, task: JSON.parse(task) as RowTask })));
    for (const { item, reserved } of rows) values.add(item, -reserved);
    await queue.clear(on, run);
    const counts = await countRows(on, run);
    await saveLedger(on, run, { ...ledger, ...counts });
    return counts.inFlight;
  });
}

type Counts = Pick<RunLedger, 'waiting' | 'toPoll' | 'inFlight' | 'polled' | 'reserved'>;

/** Rows are counted again at each start, because another program may have deleted or changed some. */
async function countRows(on: Transaction, run: number): Promise<Counts> {
  const waits = 'filter (where worker is null)';
  const { rows } = await on.query<Counts>(
    `select (count(*) ${waits})::int as waiting, (count(place = 'poll' or null) ${waits})::int as "toPoll",
       count(worker)::int as "inFlight", count(case when place = 'poll' then worker end)::int as polled,
       coalesce(sum(reserved), 0)::float8 as reserved from millrace.rows where run = $1`,
    [run],
  );
  return rows[0] ?? { waiting: 0, toPoll: 0, inFlight: 0, polled: 0, reserved: 0 };
}

/** Whether the counts of a run match its rows and queues. They differ if another program has deleted or changed some. */
export async function isCountedRight({ pool }: Pick<RunDatabase, 'pool'>, run: number): Promise<boolean> {
  const { rows } = await pool.query<{ right: boolean }>(
    `select waiting + in_flight = (select count(*) from millrace.rows r where r.run = l.run)
       and waiting = (select count(*) from ${queueSchema}.job where name = any($2::text[])) as right
     from millrace.ledgers l where run = $1`,
    [run, queuesOf(run)],
  );
  return rows[0]?.right ?? true;
}
