import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRunStore } from '../../../../runners/distributed/store/create-run-store.js';
import { createSweeper } from '../../../../runners/distributed/store/sweep.js';
import { createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { takeSubmits } from '../../../../runners/distributed/store/take-submits.js';
import { openRunDatabase, rowsOf, termsWith, type RunDatabase } from '../../../support/run-database.js';

let database: RunDatabase;
beforeAll(async () => {
  database = await openRunDatabase();
});
afterAll(() => database.close());

it('takes nobody for dead until the database has been back for a while', async () => {
  const store = createRunStore(database);
  const { run } = await store.openRun('swept', termsWith());
  await store.feed(run, rowsOf(1));
  const worker = '00000000-0000-4000-8000-000000000001';
  const options = { worker, most: 1, book: createPriceBook(), maxPriceDriftPercent: undefined };
  expect(await takeSubmits(database, run, options)).toHaveLength(1);
  let now = 0;
  let isAway = true;
  const pool = new Proxy(database.pool, {
    get: (target, name) =>
      name === 'query' && isAway
        ? () => Promise.reject(new Error('away'))
        : (Reflect.get(target, name, target) as unknown),
  });
  const sweep = createSweeper({ pool, boss: database.boss }, () => now);
  await expect(sweep()).rejects.toThrow('away');
  isAway = false;
  await sweep();
  now = 14_999;
  await sweep();
  expect((await store.stateOf(run)).inFlight).toBe(1);
  now = 15_000;
  await sweep();
  expect(await store.stateOf(run)).toMatchObject({ inFlight: 0, ended: 1, unknown: 100_000 });
});
