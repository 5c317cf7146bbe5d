import pg from 'pg';
import { Subject } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../../../runners/distributed/database/migrate.js';
import { migrations } from '../../../../runners/distributed/database/migrations.js';
import { openQueue } from '../../../../runners/distributed/queue/row-queue.js';
import { commitGroup } from '../../../../runners/distributed/table/commit-group.js';
import { readState } from '../../../../runners/distributed/table/run-state.js';
import { takeSeat } from '../../../../runners/distributed/table/seats.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { feedRows } from '../../../support/fleet.js';
import { openSharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';
import { groupOf, rowsOf, termsWith } from '../../../support/run-database.js';

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

it('refuses to change the tables of older workers and runs that are at work', async () => {
  const server = await openDatabase();
  const own = openPool(server.url);
  const run = await openSharedRun(server);
  const newest = migrations.at(-1)?.version ?? 0;
  const newer = [...migrations, step(newest + 1)];
  const expectRefused = async () => {
    await until(async () => {
      const locks = `select from pg_locks join pg_database on database = pg_database.oid where mode = 'ShareLock'
        and locktype = 'advisory' and datname = current_database()`;
      return (await own.query(locks)).rowCount === 1;
    });
    await expect(migrate(own, noQueue, newer)).rejects.toThrow(
      `Workers or runs of an older millrace (schema ${newest}) are at work in the database`,
    );
    const { rows } = await own.query(`select to_regclass('millrace.t${newest + 1}') as added`);
    expect(rows).toEqual([{ added: null }]);
  };
  try {
    const stopWorker = await run.work();
    await expectRefused();
    await stopWorker();
    run.folder.manifest([{ id: 'a', endpoint: 'echo', input: {} }]);
    const stop = new Subject<'graceful'>();
    const start = run.collect({ stop });
    await expectRefused();
    stop.next('graceful');
    await start;
    await migrate(own, noQueue, newer);
  } finally {
    await run.close();
    await own.end();
    await server.close();
  }
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
    expect((await own.query('select version from millrace.migrations')).rows).toEqual(
      migrations.map(({ version }) => ({ version })),
    );
  } finally {
    await own.end();
    await server.close();
  }
});

it('brings tables up with the rows of a run in them, which go on', async () => {
  const server = await openDatabase();
  const own = openPool(server.url);
  try {
    await migrate(own, noQueue, migrations.slice(0, 1));
    const queue = await openQueue(own);
    const { rows } = await own.query<{ run: number }>(
      `insert into millrace.runs (key, terms, start) values ('k', $1, 1) returning run`,
      [JSON.stringify(termsWith())],
    );
    const run = rows[0]?.run ?? 0;
    await own.query('insert into millrace.ledgers (run, seq, spent, concurrency) values ($1, 1, 7, 4)', [
      run,
    ]);
    await own.query('insert into millrace.gates (run) values ($1)', [run]);
    await own.query(
      `insert into millrace.records (run, seq, item, is_last, record) values ($1, 1, gen_random_uuid(), true, '{"k":"freed"}')`,
      [run],
    );
    await queue.makeQueues(run);
    await migrate(own, noQueue);
    const database = { pool: own, queue };
    await feedRows(database, run, rowsOf(2));
    const seat = { run, worker: '00000000-0000-4000-8000-000000000003' };
    await takeSeat(own, seat);
    const claim = { worker: seat.worker, start: 1, has: 0, most: { send: 4, poll: 0 }, priceOf: () => 5 };
    const { claimed, after } = await commitGroup(database, seat, groupOf(1, { claim }));
    expect([claimed.map(({ task }) => task.row.id), after]).toEqual([['r1', 'r2'], 1]);
    expect(await readState(database, run)).toMatchObject({ reserved: 10, spent: 7, inFlight: 2, seq: 1 });
  } finally {
    await own.end();
    await server.close();
  }
});

it('sees one database where a start and a worker have other rights: the worker would stop the run as one in a restored backup', async () => {
  const server = await openDatabase();
  const own = openPool(server.url);
  const role = `worker_${Date.now()}`;
  const seen = async (before = '') => {
    const client = await own.connect();
    await client.query(before);
    const { rows } = await client.query<{ timeline: string }>('select millrace.timeline()');
    client.release(true);
    return rows[0]?.timeline;
  };
  try {
    await migrate(own, noQueue);
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
    await own.end();
    await server.close();
  }
});

it('refuses tables whose version nothing says, and changes nothing', async () => {
  const server = await openDatabase();
  const own = openPool(server.url);
  try {
    await migrate(own, noQueue);
    for (const damage of ['truncate millrace.migrations', 'drop table millrace.migrations']) {
      await own.query(damage);
      await expect(migrate(own, noQueue)).rejects.toThrow(
        'but not their version: millrace.migrations is empty or',
      );
    }
  } finally {
    await own.end();
    await server.close();
  }
});

it('refuses a PostgreSQL that is too old', async () => {
  const old = { number: 120_022, version: '12.22', encoding: 'UTF8' };
  const client = {
    query: (text: string) => Promise.resolve({ rows: text.includes('server_version') ? [old] : [] }),
    release: () => undefined,
  };
  const tooOld = { connect: () => Promise.resolve(client) } as unknown as pg.Pool;
  await expect(migrate(tooOld, noQueue)).rejects.toThrow('PostgreSQL 12.22, and millrace needs 13 or newer');
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
    const used = migrate(own, noQueue).then(
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
