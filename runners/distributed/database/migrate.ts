import type { Pool, PoolClient } from 'pg';
import { migrations as allMigrations, type Migration } from './migrations.js';
import { DatabaseError } from './database-error.js';

/** An arbitrary number that no other program locks. */
const lockKey = 0x6d_69_6c_6c;

/** The schema version that this millrace's pg-boss creates. */
const newestQueueSchema = 24;

/**
 * Brings the schema up to date: each step runs once, however many processes start at the same time, and all steps run or
 * none. The schema of the queues is created under the same lock.
 *
 * @throws {DatabaseError} when a newer millrace has changed the schema: this one would misread it.
 */
export async function migrate<T>(
  pool: Pool,
  openQueue: () => Promise<T>,
  migrations: readonly Migration[] = allMigrations,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    await client.query('begin');
    await runMissing(client, migrations);
    await client.query('commit');
    await refuseNewerQueue(client);
    return await openQueue();
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockKey]).catch(() => undefined);
    client.release();
  }
}

async function runMissing(client: PoolClient, migrations: readonly Migration[]): Promise<void> {
  // Created only if it is missing: a user without the right to create schemas can use one that another user created.
  const { rowCount } = await client.query(`select from pg_namespace where nspname = 'millrace'`);
  if (rowCount === 0) await client.query('create schema millrace');
  await client.query(
    'create table if not exists millrace.migrations (version int primary key, name text not null, run_at timestamptz not null default now())',
  );
  const { rows } = await client.query<{ version: number }>(
    'select max(version) as version from millrace.migrations',
  );
  const version = rows[0]?.version ?? 0;
  const newest = migrations.at(-1)?.version ?? 0;
  if (version > newest) throw newer(`schema ${version}, and this millrace knows ${newest}`);
  for (const { version: step, name, sql } of migrations) {
    if (step <= version) continue;
    await client.query(sql);
    await client.query('insert into millrace.migrations (version, name) values ($1, $2)', [step, name]);
  }
}

async function refuseNewerQueue(client: PoolClient): Promise<void> {
  const { rows: found } = await client.query<{ there: boolean }>(
    `select to_regclass('millrace_queue.version') is not null as there`,
  );
  if (found[0]?.there !== true) return;
  const { rows } = await client.query<{ version: number }>('select version from millrace_queue.version');
  const version = rows[0]?.version ?? 0;
  if (version > newestQueueSchema)
    throw newer(`queues of schema ${version}, and pg-boss of this millrace knows ${newestQueueSchema}`);
}

function newer(what: string): DatabaseError {
  const message = `The database was made by a newer millrace (${what}): nothing was changed. Bring this machine up to the same version: npm i millrace@latest.`;
  return new DatabaseError('database', message);
}
