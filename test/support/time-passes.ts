import type { RunDatabase } from '../../runners/distributed/table/run-ledger.js';
import { sweep } from '../../runners/distributed/table/worker-record.js';

/** What an hour without a word of these workers comes to: they are taken for dead. */
export async function anHourPasses(database: RunDatabase, workers: readonly string[]): Promise<void> {
  // One that is alive may send a heartbeat in between.
  for (let seats: number | null = 1; seats !== 0;) {
    await database.pool.query(
      `update millrace.workers set seen_at = seen_at - interval '1 hour' where worker = any($1::uuid[])`,
      [workers],
    );
    await sweep(database);
    const left = await database.pool.query('select from millrace.seats where worker = any($1::uuid[])', [
      workers,
    ]);
    seats = left.rowCount;
  }
}
