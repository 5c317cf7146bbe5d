import type { Pool, PoolClient } from 'pg';
import { migrations as allMigrations, oldestJournal, type Migration } from './migrations.js';
import { DatabaseError, withoutTables } from './database-error.js';

/** Arbitrary numbers for advisory locks, which no other program should use. */
const lockKey = 0x6d_69_6c_6c;
const useKey = 0x6d_69_6c_6d;

/** Notes, as long as the connection lasts, that a process works with the tables as they are. */
export const useTables = `select pg_advisory_lock_shared(${useKey})`;

/** Older versions are not tested. */
const oldestServer = 13;
/** In any other encoding, answers with characters that it lacks cannot be written, and these answers are paid. */
const encodings = ['UTF8', 'SQL_ASCII'];

/**
 * Brings the schema up to date: each step runs once, however many processes start at the same time, and all steps run or
 * none. The schema of the queues is created under the same lock.
 *
 * @throws {DatabaseError} if PostgreSQL is too old or the database's encoding lacks characters, a newer millrace has changed the schema, or an older one has rows in it or
 *   works in it
 */
export async function migrate<T>(
  pool: Pool,
  openQueue: () => Promise<T>,
  migrations: readonly Migration[] = allMigrations,
): Promise<T> {
  const client = await pool.connect();
  try {
    await refuseOtherServer(client);
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    await client.query('begin');
    await runMissing(client, migrations);
    await client.query('commit');
    return await openQueue();
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockKey]).catch(() => undefined);
    client.release();
  }
}

const migrationsTable =
  'create table if not exists millrace.migrations (version int primary key, name text not null, run_at timestamptz not null default now())';

async function runMissing(client: PoolClient, migrations: readonly Migration[]): Promise<void> {
  // Created only if it is missing: a user without the right to create schemas can use one that another user created.
  const { rowCount } = await client.query(`select from pg_namespace where nspname = 'millrace'`);
  if (rowCount === 0) await client.query('create schema millrace');
  await client.query(migrationsTable);
  const { rows } = await client.query<{ version: number }>(
    'select max(version) as version from millrace.migrations',
  );
  const version = rows[0]?.version ?? 0;
  const newest = migrations.at(-1)?.version ?? 0;
  if (version === 0) await refuseUnknownTables(client);
  if (version > 0 && version < oldestJournal && newest >= oldestJournal) await dropOldTables(client);
  if (version > newest) throw newer(`schema ${version}, and this millrace knows ${newest}`);
  const missing = migrations.filter(({ version: step }) => step > version);
  if (version > 0 && missing.length > 0) await refuseInUse(client, version, newest);
  for (const { version: step, name, sql } of missing) {
    await client.query(sql);
    await client.query('insert into millrace.migrations (version, name) values ($1, $2)', [step, name]);
  }
}

async function refuseOtherServer(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string; encoding: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
       current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (server === undefined) return;
  const { number, version, encoding } = server;
  if (number < oldestServer * 10_000) {
    const message = `The database is PostgreSQL ${version}, and millrace needs ${oldestServer} or newer (up to 18 is tested).`;
    throw new DatabaseError('database', message);
  }
  if (encodings.includes(encoding)) return;
  const message = `The database has the encoding ${encoding}, in which paid answers with other characters cannot be kept: nothing was changed. Create one for millrace: createdb --encoding=UTF8 --template=template0 NAME.`;
  throw new DatabaseError('database', message);
}

/**
 * Drops the tables of 0.1.0, which have no journal, if they contain no run. A run is never dropped, because its folder may lack
 * results.
 *
 * @throws {DatabaseError} if they contain runs
 */
async function dropOldTables(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ runs: number }>('select count(*)::int as runs from millrace.runs');
  const runs = rows[0]?.runs ?? 0;
  if (runs > 0) {
    const message = `The database has runs of an older millrace (${runs}), whose tables this one does not read: nothing was changed. Finish each with the command that it was started with, as npx millrace@0.1.0 run MANIFEST --out DIR --db URL, and workers of the same version; then drop the schemas millrace and millrace_queue, or name another database.`;
    throw new DatabaseError('database', message);
  }
  await client.query('drop schema millrace cascade');
  await client.query('drop schema if exists millrace_queue cascade');
  await client.query('create schema millrace');
  await client.query(migrationsTable);
}

/** Workers and runs of an older version do not know the new tables. @throws {DatabaseError} if there are such processes */
async function refuseInUse(client: PoolClient, version: number, newest: number): Promise<void> {
  // The lock ends with the transaction.
  const { rows } = await client.query<{ isFree: boolean }>(
    'select pg_try_advisory_xact_lock($1) as "isFree"',
    [useKey],
  );
  if (rows[0]?.isFree === true) return;
  const message =
    `Workers or runs of an older millrace (schema ${version}) are at work in the database, and this one would change their tables (to schema ${newest}): ` +
    'nothing was changed. Let those runs end, end those workers and start again, or use the same version here.';
  throw new DatabaseError('database', message);
}

/** @throws {DatabaseError} if there are tables, but nothing says of which version */
async function refuseUnknownTables(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('millrace.runs') is not null as there`,
  );
  if (rows[0]?.there !== true) return;
  const message =
    'The database has tables of millrace, but not their version: millrace.migrations is empty or was dropped. Nothing was changed. ' +
    `Restore that table from another database of the same millrace; ${withoutTables}`;
  throw new DatabaseError('database', message);
}

function newer(what: string): DatabaseError {
  const message = `The database was made by a newer millrace (${what}): nothing was changed. Bring this machine up to the same version: npm i millrace@latest.`;
  return new DatabaseError('database', message);
}
