import type { Pool, PoolClient } from 'pg';
import { DatabaseError, withoutTables } from './database-error.js';
import { tables, tablesVersion } from './tables.js';

/** An arbitrary number for an advisory lock, which no other program should use. */
const lockKey = 0x6d_69_6c_6c;

/** Older versions are not tested. */
const oldestServer = 13;
/** In any other encoding, answers with characters that it lacks cannot be written, and these answers are paid. */
const encodings = ['UTF8', 'SQL_ASCII'];

/**
 * Creates the tables if they are missing: once, however many processes start at the same time, and all or none. The schema of the
 * queues is created under the same lock.
 *
 * @throws {DatabaseError} if PostgreSQL is too old or the database's encoding lacks characters, or if another version of millrace has
 *   made the tables
 */
export async function makeTables<T>(pool: Pool, openQueue: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await refuseOtherServer(client);
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    await client.query('begin');
    await makeMissing(client);
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

/** The versions of the tables; 0.1.0 wrote one for each of their changes. */
const versionsTable =
  'create table if not exists millrace.migrations (version int primary key, name text not null, run_at timestamptz not null default now())';

async function makeMissing(client: PoolClient): Promise<void> {
  // Created only if it is missing: a user without the right to create schemas can use one that another user created.
  const { rowCount } = await client.query(`select from pg_namespace where nspname = 'millrace'`);
  if (rowCount === 0) await client.query('create schema millrace');
  await client.query(versionsTable);
  const { rows } = await client.query<{ version: number | null; areThere: boolean }>(
    `select max(version) as version, to_regclass('millrace.runs') is not null as "areThere" from millrace.migrations`,
  );
  const { version = null, areThere = false } = rows[0] ?? {};
  if (version === tablesVersion) return;
  if (version !== null && version > tablesVersion) throw newer(version);
  if (areThere) await dropOlder(client, version);
  await client.query(tables);
  await client.query('insert into millrace.migrations (version, name) values ($1, $2)', [
    tablesVersion,
    'tables',
  ]);
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
 * Drops the tables of 0.1.0, which have no journal, or of a version before a release, if they contain no run. A run is never dropped,
 * because its folder may lack results.
 *
 * @throws {DatabaseError} if they contain runs, or if nothing says of which version they are
 */
async function dropOlder(client: PoolClient, version: number | null): Promise<void> {
  if (version === null)
    throw new DatabaseError(
      'database',
      'The database has tables of millrace, but not their version: millrace.migrations is empty or was dropped. Nothing was changed. ' +
        `Restore that table from another database of the same millrace; ${withoutTables}`,
    );
  // Waits for a start of that version that adds a run just now: it would be dropped uncounted.
  await client.query('lock table millrace.runs');
  const { rows } = await client.query<{ runs: number }>('select count(*)::int as runs from millrace.runs');
  const runs = rows[0]?.runs ?? 0;
  if (runs > 0) {
    const message =
      `The database has runs of an older millrace (${runs}, schema ${version}), whose tables this one does not read: nothing was changed. ` +
      'Finish each with the version and the command that it was started with, as npx millrace@0.1.0 run MANIFEST --out DIR --db URL, and workers of the same version; ' +
      'then drop the schemas millrace and millrace_queue, or name another database.';
    throw new DatabaseError('database', message);
  }
  await client.query('drop schema millrace cascade');
  await client.query('drop schema if exists millrace_queue cascade');
  await client.query('create schema millrace');
  await client.query(versionsTable);
}

function newer(version: number): DatabaseError {
  const message = `The database was made by a newer millrace (schema ${version}, and this millrace knows ${tablesVersion}): nothing was changed. Bring this machine up to the same version: npm i millrace@latest.`;
  return new DatabaseError('database', message);
}
