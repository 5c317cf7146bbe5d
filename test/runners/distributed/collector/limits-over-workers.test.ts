import { defer, finalize, of } from 'rxjs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { PictureHost } from '../../../../runners/batch/uploads/picture-host.js';
import { localPicture } from '../../../../runners/batch/uploads/create-picture-host.js';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { replied } from '../../../support/virtual-time.js';
import pg from 'pg';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun(database);
});
afterEach(() => run.close());

const jobs = (count: number, input: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, ...input } }));

/** A service that takes so many requests at once, over all workers. */
function narrow(most: number) {
  const got = createGotTransport();
  const counts = { atOnce: 0, peak: 0, refused: 0, taken: 0 };
  const transport: Transport = (request) =>
    defer(() => {
      if (counts.atOnce >= most) {
        counts.refused += 1;
        return of(replied(429, { error: 'too many' }, { 'retry-after': '0' }));
      }
      counts.atOnce += 1;
      counts.taken += 1;
      counts.peak = Math.max(counts.peak, counts.atOnce);
      return got(request).pipe(finalize(() => (counts.atOnce -= 1)));
    });
  return { transport, counts };
}

it('--concurrency auto: each worker finds out how many the service takes', async () => {
  const { transport, counts } = narrow(10);
  await run.work({ transport });
  await run.work({ transport });
  const path = run.folder.manifest(jobs(150, { sleepMs: 20 }));
  const ended = await run.collect({ manifest: { path, mode: 'sync' }, concurrency: 'auto' });
  expect([ended.exitCode, ended.summary.rows.completed]).toEqual([0, 150]);
  expect(run.emulator.bill()).toHaveLength(150);
  expect(counts.peak).toBe(10);
  expect(counts.refused).toBeLessThan(counts.taken / 2);
});

it('--max-cost-per-day counts what other runs have bought, local ones among them', async () => {
  const day = {
    ...{ assumePriceUsd: 0.01, concurrency: 2, maxCostPerDayUsd: 0.05 },
    ledgerFile: join(run.folder.path, 'ledger.jsonl'),
  };
  const { apiKey: key, baseUrl, lbBaseUrl } = run.emulator;
  await run.work();
  run.folder.manifest(jobs(3));
  expect((await run.folder.run({ key, baseUrl, lbBaseUrl }, day)).exitCode).toBe(0);
  run.folder.manifest(jobs(9));
  const there = await run.collect(day);
  expect([there.exitCode, there.summary.rows.completed]).toEqual([3, 5]);
  expect(run.emulator.bill()).toHaveLength(5);
});

it('--upload: workers send addresses, which lie in no file and, once the row has ended, not in the database', async () => {
  const addresses: string[] = [];
  const host: PictureHost = {
    put: (path) => Promise.resolve(`s3://b/${path}`),
    addressOf: (name) => {
      addresses.push(`https://store.test/${name}?signature=abc`);
      return Promise.resolve(addresses.at(-1) ?? '');
    },
    close: () => Promise.resolve(),
  };
  const sent: string[] = [];
  const got = createGotTransport();
  await run.work({
    transport: (request) =>
      defer(() => {
        sent.push(request.body ?? '');
        return request.method === 'POST'
          ? of(replied(200, { id: 'job-1', status: 'COMPLETED', output: { image_url: 'x', cost: 0.0875 } }))
          : got(request);
      }),
  });
  run.folder.manifest([{ id: 'a', endpoint: 'image-edit', images: [localPicture('a.png')], prompt: 'a' }]);
  const ended = await run.collect({ pictureHost: () => Promise.resolve(host), download: false });
  expect([ended.exitCode, addresses]).toEqual([0, ['https://store.test/s3://b/a.png?signature=abc']]);
  expect(sent.join()).toContain('signature=abc');
  for (const name of ['journal.jsonl', 'results.jsonl', 'distributed.json'])
    expect(run.folder.text(name)).not.toContain('signature=');
  const client = new pg.Client({ connectionString: run.url });
  await client.connect();
  const { rows } = await client.query<{ text: string }>(
    'select r::text as text from millrace.records r union all select r::text from millrace.rows r',
  );
  await client.end();
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ text }) => text.includes('signature='))).toEqual([]);
});
