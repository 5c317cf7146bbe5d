import { inTransaction } from '../database/transaction.js';
import type { RunDatabase } from './run-database.js';
import { lockLedger, saveLedger } from './run-ledger.js';
import { stopRun } from './runs.js';
import { places } from '../queue/row-queue.js';

/** Asks the workers of a run to give its rows back. What is on the wire is awaited. */
export function recallRun({ pool }: RunDatabase, run: number): Promise<void> {
  const leaves = ['open', 'accepted', 'replied'] as const;
  return inTransaction(pool, (on) =>
    stopRun(on, run, { exitCode: 0, reason: 'The rows are asked back by their folder.', leaves }),
  );
}

/** How many workers have a seat at a run, and how many rows they have. */
export async function countSeats(
  { pool }: RunDatabase,
  run: number,
): Promise<{ seats: number; rows: number }> {
  const { rows } = await pool.query<{ seats: number; rows: number }>(
    `select (select count(*)::int from millrace.seats s where s.run = l.run) as seats, in_flight as rows
     from millrace.ledgers l where run = $1`,
    [run],
  );
  return rows[0] ?? { seats: 0, rows: 0 };
}

/**
 * Takes the rows out of the database that no worker has: what is known of them lies in the journal of the folder. Returns how many
 * rows workers have.
 */
export function withdrawRows({ pool, queue }: RunDatabase, run: number): Promise<number> {
  return inTransaction(pool, async (on) => {
    const ledger = await lockLedger(on, run);
    const { rows } = await on.query<{ item: string; place: string; reserved: number }>(
      'delete from millrace.rows where run = $1 and worker is null returning item, place, reserved::float8',
      [run],
    );
    for (const place of places)
      await queue.remove(
        on,
        run,
        place,
        rows.filter((row) => row.place === place).map(({ item }) => item),
      );
    ledger.waiting -= rows.length;
    for (const { reserved } of rows) ledger.reserved -= reserved;
    await saveLedger(on, run, ledger);
    return ledger.inFlight;
  });
}
