import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../../../runners/distributed/database/migrate.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 12 });
});

afterAll(async () => {
  await pool.end();
  await database.close();
});

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

it('refuses queues that a newer pg-boss made', async () => {
  const { schema } = JSON.parse(await readFile('node_modules/pg-boss/version.json', 'utf8')) as {
    schema: number;
  };
  await pool.query(`create schema millrace_queue; create table millrace_queue.version (version int)`);
  await pool.query('insert into millrace_queue.version values ($1)', [schema]);
  await migrate(pool, noQueue, [1, 2, 3].map(step));
  await pool.query('update millrace_queue.version set version = $1', [schema + 1]);
  await expect(migrate(pool, noQueue, [1, 2, 3].map(step))).rejects.toThrow(`queues of schema ${schema + 1}`);
});
