import type { Database } from '../../runners/distributed/records/database.js';
import { sweep } from '../../runners/distributed/store/sweep.js';

/** What an hour without a word of these workers comes to: their leases are over, and they are taken for dead. */
export async function anHourPasses(database: Database, workers: readonly string[]): Promise<void> {
  const { pool } = database;
  await pool.query(
    `update millrace.workers set seen_at = seen_at - interval '1 hour' where worker = any($1::uuid[])`,
    [workers],
  );
  await pool.query(
    `update millrace_queue.job set started_on = started_on - interval '2 hours' where state = 'active'`,
  );
  await sweep(database);
}
