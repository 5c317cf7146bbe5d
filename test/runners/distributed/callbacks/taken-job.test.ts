import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { freePort } from '../../../support/loopback-server.js';
import { openSharedRun } from '../../../support/shared-run.js';
import { openSilentShop } from '../../../support/silent-shop.js';
import { until } from '../../../support/until.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

/** A run of row "a" over a database; callbacks come to the port of its collector. */
async function openRun() {
  const run = await openSharedRun(database);
  const shop = await openSilentShop();
  onTestFinished(async () => {
    await run.close();
    await shop.server[Symbol.asyncDispose]();
  });
  run.folder.manifest([{ id: 'a', endpoint: 'e', input: { of: 'a' } }]);
  const baseUrl = shop.server.url;
  const webhooks = { port: await freePort() };
  const collect = (options: Parameters<typeof run.collect>[0] = {}) =>
    run.collect({ assumePriceUsd: 0.01, baseUrl, webhooks, ...options });
  const work = () => run.work({ baseUrl });
  const own = await connectDatabase({ url: database.url });
  onTestFinished(() => own.close());
  const stored = async () => (await own.pool.query('select from millrace.callbacks')).rowCount ?? 0;
  return { ...run, ...shop, collect, work, stored };
}

const bought = { completed: 1, failed: 0, toDo: 0 };
const paidOnce = { reported: 0.01, unknown: 0 };

it('a worker does not send a row again whose request was refused, and made a job all the same', async () => {
  const { posts, state, callBack, collect, work, folder } = await openRun();
  state.isRefusing = true;
  state.onPost = () => setTimeout(() => void callBack(), 300);
  await work();
  const { exitCode, summary } = await collect();
  expect(posts).toStrictEqual(['a']);
  expect([exitCode, summary.rows, summary.cost]).toMatchObject([0, bought, paidOnce]);
  expect(folder.lines('results.jsonl')).toMatchObject([{ id: 'a', jobId: 'job-a', output: { of: 'a' } }]);
});

it('a worker does not send a row again whose job a callback has named while no worker had it', async () => {
  const { posts, callBack, collect, work, stored, folder } = await openRun();
  const leave = await work();
  const lost = collect();
  await until(() => posts.length === 1);
  await leave();
  expect((await lost).exitCode).toBe(6);
  const before = await stored();
  const collecting = collect({ retry: ['unknown'] });
  await until(async () => (await callBack().catch(() => 0)) === 200);
  expect(await stored()).toBe(before + 1);
  await work();
  const { exitCode, summary } = await collecting;
  expect(posts).toStrictEqual(['a']);
  expect([exitCode, summary.rows, summary.cost]).toMatchObject([0, bought, paidOnce]);
  // The line of the request without an answer leaves the file with the next start.
  expect((await collect()).exitCode).toBe(0);
  expect(folder.costs()).toMatchObject([{ id: 'a', attempt: '1', jobId: 'job-a', source: 'reported' }]);
  expect(posts).toStrictEqual(['a']);
});
