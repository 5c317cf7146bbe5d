import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { makeTables } from '../../../../runners/distributed/database/make-tables.js';
import { tablesVersion } from '../../../../runners/distributed/database/tables.js';
import { openQueue } from '../../../../runners/distributed/queue/row-queue.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { until } from '../../../support/until.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openDatabase();
  pool = openPool(database.url);
});

afterAll(async () => {
  await pool.end();
  await database.close();
});

/** A pool that has ended may still hear that its database goes. */
function openPool(url: string): pg.Pool {
  const opened = new pg.Pool({ connectionString: url, max: 12 });
  opened.on('error', () => undefined);
  return opened.on('connect', (client) => client.on('error', () => undefined));
}

/** A database of a test alone. */
async function openOwn(): Promise<pg.Pool> {
  const server = await openDatabase();
  const own = openPool(server.url);
  onTestFinished(async () => {
    await own.end();
    await server.close();
  });
  return own;
}

const noQueue = () => Promise.resolve();
const versions = async (on: pg.Pool) =>
  (await on.query<{ version: number }>('select version from millrace.migrations order by version')).rows.map(
    ({ version }) => version,
  );

it('makes the tables once, however many start at once', async () => {
  await Promise.all(Array.from({ length: 8 }, () => makeTables(pool, noQueue)));
  expect(await versions(pool)).toEqual([tablesVersion]);
});

it('leaves all as it was where a part cannot be made', async () => {
  const own = await openOwn();
  await own.query('create schema millrace; create table millrace.gates (run int)');
  await expect(makeTables(own, noQueue)).rejects.toThrow('relation "gates" already exists');
  const { rows } = await own.query(`select to_regclass('millrace.runs') as runs`);
  expect(rows).toEqual([{ runs: null }]);
});

it('refuses what a newer millrace made', async () => {
  const own = await openOwn();
  await makeTables(own, noQueue);
  await own.query(`insert into millrace.migrations values (${tablesVersion + 1}, 'more')`);
  await expect(makeTables(own, noQueue)).rejects.toThrow(
    `made by a newer millrace (schema ${tablesVersion + 1}, and this millrace knows ${tablesVersion}): nothing was changed`,
  );
});

it.each([
  ['0.1.0', 2],
  ['a version before a release', tablesVersion - 1],
])(
  'refuses the tables of %s while there are runs in them, and says how to finish them',
  async (_, version) => {
    const own = await openOwn();
    await own.query(`create schema millrace; create table millrace.runs (run int);
    create table millrace.migrations (version int primary key, name text not null);
    insert into millrace.migrations values (${version}, 'old'); insert into millrace.runs values (1)`);
    await expect(makeTables(own, noQueue)).rejects.toThrow(
      /npx millrace@0\.1\.0 run MANIFEST --out DIR --db URL.* drop the schemas millrace and millrace_queue/,
    );
    expect(await versions(own)).toEqual([version]);
    await own.query('delete from millrace.runs');
    await makeTables(own, noQueue);
    expect(await versions(own)).toEqual([tablesVersion]);
  },
);

it('waits for a run that an older millrace adds meanwhile, and refuses its tables too', async () => {
  const own = await openOwn();
  await own.query(`create schema millrace; create table millrace.runs (run int);
    create table millrace.migrations (version int primary key, name text not null);
    insert into millrace.migrations values (2, 'old')`);
  const adding = await own.connect();
  await adding.query('begin; insert into millrace.runs values (1)');
  const made = makeTables(own, noQueue).then(
    () => 'made',
    (error: unknown) => (error as Error).message,
  );
  const waiting = `select from pg_locks where not granted and relation = 'millrace.runs'::regclass`;
  await until(async () => (await adding.query(waiting)).rowCount === 1);
  await adding.query('commit');
  adding.release();
  expect(await made).toMatch('The database has runs of an older millrace (1, schema 2)');
  expect((await own.query('select from millrace.runs')).rowCount).toBe(1);
});

it('sees one database where a start and a worker have other rights: the worker would stop the run as one in a restored backup', async () => {
  const own = await openOwn();
  const role = `worker_${Date.now()}`;
  const seen = async (before = '') => {
    const client = await own.connect();
    await client.query(before);
    const { rows } = await client.query<{ timeline: string }>('select millrace.timeline()');
    client.release(true);
    return rows[0]?.timeline;
  };
  try {
    await makeTables(own, noQueue);
    const whole = await seen();
    expect(whole).toMatch(/^\d+ \d{8} \d+ \d+$/);
    await own.query(`revoke execute on function pg_control_system() from public; create role ${role};
      grant usage on schema millrace to ${role}`);
    expect([await seen(), await seen(`set role ${role}`)]).toEqual([whole, whole]);
    // What a user has made does not pass for a table of the server.
    const shadow = 'create temp table pg_database as select 7::oid as oid, current_database() as datname';
    expect(await seen(shadow)).toBe(whole);
  } finally {
    await own.query(`drop owned by ${role}; drop role ${role}`);
  }
});

it('refuses tables whose version nothing says, and changes nothing', async () => {
  const own = await openOwn();
  await makeTables(own, noQueue);
  for (const damage of ['truncate millrace.migrations', 'drop table millrace.migrations']) {
    await own.query(damage);
    await expect(makeTables(own, noQueue)).rejects.toThrow(
      'but not their version: millrace.migrations is empty or',
    );
  }
});

it('refuses a PostgreSQL that is too old', async () => {
  const old = { number: 120_022, version: '12.22', encoding: 'UTF8' };
  const client = {
    query: (text: string) => Promise.resolve({ rows: text.includes('server_version') ? [old] : [] }),
    release: () => undefined,
  };
  const tooOld = { connect: () => Promise.resolve(client) } as unknown as pg.Pool;
  await expect(makeTables(tooOld, noQueue)).rejects.toThrow(
    'PostgreSQL 12.22, and millrace needs 13 or newer',
  );
});

it.each([
  ['SQL_ASCII', 'is used'],
  ['LATIN1', expect.stringContaining('has the encoding LATIN1') as string],
])('refuses a database whose encoding would lose characters of answers: %s', async (encoding, end) => {
  const name = `other_${encoding.toLowerCase()}`;
  await pool.query(
    `create database ${name} encoding '${encoding}' lc_collate 'C' lc_ctype 'C' template template0`,
  );
  const own = openPool(database.url.replace(/[^/]*$/, name));
  try {
    const used = makeTables(own, noQueue).then(
      () => 'is used',
      (error: unknown) => (error as Error).message,
    );
    expect(await used).toEqual(end);
  } finally {
    await own.end();
    await pool.query(`drop database ${name} with (force)`);
  }
});

it('refuses queues that another pg-boss made', async () => {
  const other =
    'PgBoss' in (await import('pg-boss')) ? { version: 10, schema: 24 } : { version: 12, schema: 46 };
  await pool.query(`create schema millrace_queue; create table millrace_queue.version (version int)`);
  await pool.query('insert into millrace_queue.version values ($1)', [other.schema]);
  await expect(openQueue(pool)).rejects.toThrow(`npm i pg-boss@${other.version}`);
});
