import type { Pool, PoolClient } from 'pg';
import type PgBoss from 'pg-boss';

/** A database that holds runs: its connections, and the queues in it. */
export interface Database {
  readonly pool: Pool;
  readonly boss: PgBoss;
}

/** A connection inside a transaction. */
export type Transaction = Pick<PoolClient, 'query'>;

/**
 * All or nothing. When the connection breaks during the commit, it is not known whether it was committed: `work` must be safe
 * to run again.
 */
export async function inTransaction<T>(pool: Pool, work: (on: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (isBroken = true));
    throw error;
  } finally {
    client.release(isBroken);
  }
}

/** The channel that workers LISTEN to: what there is to do has changed. */
export const channel = 'millrace';

export async function wakeWorkers(on: Transaction): Promise<void> {
  await on.query(`select pg_notify('${channel}', '')`);
}

/** The schema of the queues. */
export const queueSchema = 'millrace_queue';

/**
 * pg-boss on the connections of this pool. It opens no connection, runs no timer and deletes nothing by itself. Creates its
 * schema if it is missing.
 */
export async function openQueue(pool: Pool): Promise<PgBoss> {
  const { default: Boss } = await import('pg-boss');
  const db = { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) };
  const boss = new Boss({ db, schema: queueSchema, supervise: false, schedule: false });
  // Each call rejects with its own error as well.
  boss.on('error', () => undefined);
  await boss.start();
  return boss;
}
