import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { dropStored, storedPages } from '../../../runners/distributed/callbacks/callbacks-table.js';
import { StoredCallbacks } from '../../../runners/distributed/callbacks/served-callbacks.js';
import { makeRun } from '../../../runners/distributed/table/runs.js';
import { openRunDatabase } from '../../support/run-database.js';

it('looks for callbacks about a row that is named while a look ends, however few steps lie between', async () => {
  for (let steps = 0; steps < 30; steps++) {
    const asked: unknown[] = [];
    const query = (_: unknown, values: readonly unknown[]) => {
      asked.push(...values.flat());
      return Promise.resolve({ rows: [] });
    };
    const receiver = { deliver: () => Promise.resolve(undefined) };
    const pool = { query } as unknown as Pool;
    const stored = new StoredCallbacks({ pool, run: 1, name: 'run', receiver, left: () => undefined });
    stored.look(['a']);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    stored.look(['b']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked, `${steps} steps`).toEqual(expect.arrayContaining(['"a"', '"b"']));
  }
});

it('reads very many stored callbacks in parts, each of them once, whatever is deleted meanwhile', async () => {
  const database = await openRunDatabase();
  const { pool } = database;
  const run = await makeRun(database, 'called');
  await pool.query(
    `insert into millrace.callbacks (run, digest, id, attempt, job_id, body)
     select $1, gen_random_uuid(), to_json('row ' || n), 1, to_json('job ' || n), '' from generate_series(1, 25000) n`,
    [run],
  );
  const sizes: number[] = [];
  const rows = new Set<string>();
  for await (const page of storedPages(pool, run)) {
    sizes.push(page.length);
    for (const { row, jobId } of page) if (jobId === row.replace('row', 'job')) rows.add(row);
    await dropStored(
      pool,
      run,
      page.map(({ digest }) => digest),
    );
  }
  expect([sizes, rows.size]).toEqual([[10_000, 10_000, 5_000], 25_000]);
  expect((await pool.query('select from millrace.callbacks')).rowCount).toBe(0);
  await database.close();
});
