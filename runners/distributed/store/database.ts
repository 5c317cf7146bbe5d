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
 * All or nothing. When the connection breaks while it is committed nobody knows which: whatever runs in here can be run
 * again.
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
