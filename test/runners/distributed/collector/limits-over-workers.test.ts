import { defer, finalize, of, Subject } from 'rxjs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import type { Ahead } from '../../../../runners/batch/start/check/ahead.js';
import { openSharedLedger } from '../../../../runners/batch/start/money/day-money.js';
import type { EmulatorOptions } from '../../../../runners/emulator/index.js';
import { toUsd } from '../../../../src/contract/micro-dollars.js';
import type { PictureHost } from '../../../../runners/batch/uploads/picture-host.js';
import { localPicture } from '../../../../runners/batch/uploads/create-picture-host.js';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { startMillrace } from '../../../support/millrace.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { replied } from '../../../support/virtual-time.js';
import { until } from '../../../support/until.js';
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

/** Another service for this run. */
async function useService(options: EmulatorOptions): Promise<void> {
  await run.close();
  run = await openSharedRun(database, options);
}

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
    assumePriceUsd: 0.01,
    concurrency: 2,
    maxCostPerDayUsd: 0.05,
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

/** The options of a start under the cap of a day, and what its ledger holds. */
function underDayCap(capUsd: number) {
  const ledgerFile = join(run.folder.path, 'ledger.jsonl');
  const options = { assumePriceUsd: 0.01, concurrency: 2, maxCostPerDayUsd: capUsd, ledgerFile };
  const taken = async () => {
    const opened = await openSharedLedger({
      disk: nodeDisk,
      now: Date.now,
      out: run.folder.out,
      path: ledgerFile,
      capUsd,
    });
    const reserved = (await opened.outstanding()).map(({ id }) => id);
    return { spent: toUsd(opened.snapshot().spent), reserved };
  };
  return { options, taken };
}

it('--max-cost-per-day holds for requests that are sent again because they may have been accepted', async () => {
  let posts = 0;
  const faultOf = ({ operation }: { operation: string }) =>
    operation === 'run' && posts++ < 3 ? 'cut' : undefined;
  await useService({ faultOf });
  await run.work();
  run.folder.manifest(jobs(9));
  const capped = underDayCap(0.05);
  const first = await run.collect({ ...capped.options, onUnknown: 'retry' });
  expect([first.exitCode, run.emulator.bill().length]).toEqual([3, 5]);
  const { options, taken } = underDayCap(0.2);
  const retried = { ...options, onUnknown: 'retry', retry: ['unknown'] } as const;
  const second = await run.collect(retried);
  expect([second.exitCode, second.summary.rows.completed, run.emulator.bill().length]).toEqual([0, 9, 12]);
  expect(second.summary.cost).toMatchObject({ estimated: 0.09, unknown: 0.03 });
  expect((await taken()).spent).toBe(0.09);
  expect((await taken()).reserved).toHaveLength(3);
});

it('--on-unknown retry under the cap of a day sends a row again in the same start', async () => {
  let posts = 0;
  const faultOf = ({ operation }: { operation: string }) =>
    operation === 'run' && posts++ < 3 ? 'cut' : undefined;
  await useService({ faultOf });
  await run.work();
  run.folder.manifest(jobs(2));
  const { options, taken } = underDayCap(1);
  const end = await run.collect({ ...options, onUnknown: 'retry' });
  expect([end.exitCode, end.summary.rows, run.emulator.bill().length]).toEqual([
    0,
    { total: 2, completed: 2, failed: 0, toDo: 0 },
    5,
  ]);
  expect(end.summary.cost).toMatchObject({ estimated: 0.02, unknown: 0.03, possiblyDouble: 0.03 });
  expect([run.folder.lines('failures.jsonl').length, run.folder.costs().length]).toEqual([0, 5]);
  expect(await taken()).toMatchObject({ spent: 0.02 });
  expect((await taken()).reserved).toHaveLength(3);
});

it('--on-unknown retry under the cap of a day sends a row again whose start died before it did', async () => {
  let posts = 0;
  const faultOf = ({ operation }: { operation: string }) =>
    operation === 'run' && posts++ < 1 ? 'cut' : undefined;
  await useService({ faultOf });
  await run.work();
  const manifest = run.folder.manifest([
    ...jobs(1),
    { id: 'slow', endpoint: 'echo', input: { sleepMs: 4_000 } },
  ]);
  const { options, taken } = underDayCap(1);
  const { baseUrl, apiKey } = run.emulator;
  const limits = ['--max-cost-per-day', '1', '--ledger', options.ledgerFile, '--assume-price', '0.01'];
  const killed = startMillrace(
    ['run', manifest, '--out', run.folder.out, '--db', run.url, '--on-unknown', 'retry', ...limits],
    { env: { MILLRACE_BASE_URL: baseUrl, MILLRACE_API_KEY: apiKey } },
  );
  await until(() => run.folder.text('journal.jsonl').includes('"code":"unknown"'));
  killed.child.kill('SIGKILL');
  await killed.ended;
  const asked: number[] = [];
  const refuse = (_plan: unknown, { retriedUnknown }: Ahead) => asked.push(retriedUnknown) === 0;
  await run.collect({ ...options, onUnknown: 'retry', confirm: refuse });
  expect([asked, run.folder.text('journal.jsonl').includes('"k":"reopen"')]).toEqual([[1], false]);
  const end = await run.collect({ ...options, onUnknown: 'retry' });
  expect([end.exitCode, end.summary.rows.completed, run.emulator.bill().length]).toEqual([0, 2, 3]);
  expect(end.summary.cost).toMatchObject({ estimated: 0.02, unknown: 0.01, possiblyDouble: 0.01 });
  expect(run.folder.lines('failures.jsonl')).toEqual([]);
  expect(await taken()).toMatchObject({ spent: 0.02, reserved: [expect.anything()] });
});

it('--max-cost-per-day holds where the service charges more than was reckoned with', async () => {
  await useService({ functions: { queue: { echo: (input) => ({ echo: input, cost: 0.03 }) } } });
  await run.work();
  run.folder.manifest(jobs(30));
  const { options, taken } = underDayCap(0.3);
  const end = await run.collect(options);
  expect(end.exitCode).toBe(3);
  const bill = 0.03 * run.emulator.bill().length;
  // Rows that were on the wire when the first price came.
  expect(bill).toBeLessThanOrEqual(0.3 + 2 * 0.02);
  expect(await taken()).toEqual({ spent: expect.closeTo(bill) as number, reserved: [] });
  const { options: raised } = underDayCap(1);
  const last = await run.collect(raised);
  expect([last.exitCode, last.summary.rows.completed, run.emulator.bill().length]).toEqual([0, 30, 30]);
});

it('a start that is stopped leaves nothing reserved in the ledger of a day but for jobs that were accepted', async () => {
  await run.work();
  run.folder.manifest(jobs(40, { sleepMs: 400 }));
  const { options, taken } = underDayCap(1);
  const stop = new Subject<'graceful'>();
  const start = run.collect({ ...options, stop });
  // A start that ends before it has bought anything fails the test, and its reason is printed.
  await Promise.race([start, until(() => run.emulator.bill().length > 0)]);
  stop.next('graceful');
  const end = await start;
  expect([end.exitCode, end.reason]).toEqual([130, expect.stringContaining('Interrupted')]);
  const { accepted } = statuses(run.folder.lines('journal.jsonl'));
  expect((await taken()).reserved.sort()).toEqual(accepted);
});

/** The rows whose last record says that they were accepted. */
function statuses(journal: readonly Record<string, unknown>[]): { accepted: string[] } {
  const last = new Map<string, unknown>();
  for (const { k, id } of journal) if (typeof id === 'string') last.set(id, k);
  return { accepted: [...last].flatMap(([id, k]) => (k === 'accepted' ? [id] : [])).sort() };
}

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

it('--upload: a worker masks the signature of a picture that another worker has sent, where the service repeats it', async () => {
  const given = `https://b.store.test/in/a.png?X-Amz-Signature=${'5f'.repeat(32)}`;
  const host: PictureHost = {
    put: (path) => Promise.resolve(`s3://b/in/${path}`),
    addressOf: () => Promise.resolve(given),
    close: () => Promise.resolve(),
  };
  const end = { id: 'job-1', status: 'COMPLETED', output: { of: given, image_url: 'x', cost: 0.0875 } };
  const seen: string[] = [];
  const service = (status: object): Transport => {
    return (request) =>
      defer(() => {
        seen.push(request.method === 'POST' ? 'POST' : JSON.stringify(status));
        return of(replied(200, request.method === 'POST' ? { id: 'job-1', status: 'IN_QUEUE' } : status));
      });
  };
  const leave = await run.work({ transport: service({ id: 'job-1', status: 'IN_PROGRESS' }) });
  run.folder.manifest([{ id: 'a', endpoint: 'image-edit', images: [localPicture('a.png')], prompt: 'a' }]);
  const ended = run.collect({ pictureHost: () => Promise.resolve(host), download: false });
  await until(() => seen.length > 1);
  await leave();
  await run.work({ transport: service(end) });
  expect((await ended).exitCode).toBe(0);
  expect(seen.filter((one) => one === 'POST')).toHaveLength(1);
  expect(run.folder.text('results.jsonl')).toContain('a.png?X-Amz-Signature=[redacted]');
  for (const [name, bytes] of run.folder.everything())
    expect(bytes.includes('5f'.repeat(20)), name).toBe(false);
});
