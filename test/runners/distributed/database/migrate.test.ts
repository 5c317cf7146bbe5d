import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../../../runners/distributed/database/migrate.js';
import { openQueue } from '../../../../runners/distributed/queue/row-queue.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';

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

const noQueue = () => Promise.resolve();
const step = (version: number) => ({
  version,
  name: `step ${version}`,
  sql: `create table millrace.t${version} (n int)`,
});
const steps = async () =>
  (
    await pool.query<{ version: number }>('select version from millrace.migrations order by version')
  ).rows.map(({ version }) => version);

it('runs each step once, however many start at once', async () => {
  await Promise.all(Array.from({ length: 8 }, () => migrate(pool, noQueue, [step(1), step(2)])));
  expect(await steps()).toEqual([1, 2]);
  await migrate(pool, noQueue, [step(1), step(2), step(3)]);
  expect(await steps()).toEqual([1, 2, 3]);
});

it('leaves all as it was where a step fails', async () => {
  const broken = { version: 5, name: 'broken', sql: 'create table millrace.t5 (n int); select 1 / 0' };
  await expect(migrate(pool, noQueue, [1, 2, 3, 4].map(step).concat(broken))).rejects.toThrow(
    'division by zero',
  );
  expect(await steps()).toEqual([1, 2, 3]);
  expect((await pool.query(`select to_regclass('millrace.t4') as t4`)).rows).toEqual([{ t4: null }]);
});

it('refuses what a newer millrace made', async () => {
  await expect(migrate(pool, noQueue, [step(1)])).rejects.toThrow(
    'made by a newer millrace (schema 3, and this millrace knows 1): nothing was changed',
  );
});

it('refuses the tables of an older millrace while there are runs in them, and says how to finish them', async () => {
  const old = { version: 2, name: 'old', sql: 'create table millrace.runs (run int)' };
  const server = await openDatabase();
  const own = openPool(server.url);
  try {
    await migrate(own, noQueue, [old]);
    await own.query('insert into millrace.runs values (1)');
    await expect(migrate(own, noQueue)).rejects.toThrow(
      /npx millrace@0\.1\.0 run MANIFEST --out DIR --db URL/,
    );
    await own.query('delete from millrace.runs');
    await migrate(own, noQueue);
    expect((await own.query('select version from millrace.migrations')).rows).toEqual([
      { version: 10 },
      { version: 11 },
    ]);
  } finally {
    await own.end();
    await server.close();
  }
});

it('refuses a PostgreSQL that is too old', async () => {
  const old = { server_version_num: '120022', server_version: '12.22' };
  const client = {
    query: (text: string) => Promise.resolve({ rows: text.includes('server_version') ? [old] : [] }),
    release: () => undefined,
  };
  const tooOld = { connect: () => Promise.resolve(client) } as unknown as pg.Pool;
  await expect(migrate(tooOld, noQueue)).rejects.toThrow('PostgreSQL 12.22, and millrace needs 13 or newer');
});

it('refuses queues that another pg-boss made', async () => {
  const other =
    'PgBoss' in (await import('pg-boss')) ? { version: 10, schema: 24 } : { version: 12, schema: 46 };
  await pool.query(`create schema millrace_queue; create table millrace_queue.version (version int)`);
  await pool.query('insert into millrace_queue.version values ($1)', [other.schema]);
  await expect(openQueue(pool)).rejects.toThrow(`npm i pg-boss@${other.version}`);
});
