import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstValueFrom, map, ReplaySubject, Subject } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { holdRun } from '../../../../runners/batch/lock/hold-run.js';
import { runBatch, type RunBatchOptions, type StopOrder } from '../../../../runners/batch/run-batch.js';
import { runDistributed } from '../../../../runners/distributed/collector/run-distributed.js';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { runWorker, type WorkerOptions } from '../../../../runners/distributed/worker/run-worker.js';
import { startEmulator, type Emulator } from '../../../../runners/emulator/index.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { serveQueue } from '../../../support/queue-server.js';
import { finished, runFolder, type RunFolder } from '../../../support/run-folder.js';

let database: TestDatabase;
let emulator: Emulator;
let folder: RunFolder;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await openDatabase();
  emulator = await startEmulator({ key: 'the-key-of-a-fleet', workers: 50 });
});

beforeEach(() => {
  folder = runFolder();
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  folder.remove();
});

afterAll(async () => {
  await emulator.close();
  await database.close();
});

const connect = () => connectDatabase({ url: database.url });

async function startWorker(options: Partial<WorkerOptions> = {}, over = connect): Promise<void> {
  const connected = await over();
  const stop = new Subject<void>();
  const { apiKey, baseUrl, lbBaseUrl } = emulator;
  const work = runWorker({ database: connected, apiKey, baseUrl, lbBaseUrl, stop, ...options });
  closing.push(async () => {
    stop.next();
    await work;
    await connected.close();
  });
}

function collect(path: string, options: Partial<RunBatchOptions> = {}, over = connect) {
  const { apiKey, baseUrl, lbBaseUrl } = emulator;
  const given = { manifest: { path }, out: folder.out, apiKey, baseUrl, lbBaseUrl, ...options };
  return finished(runDistributed(given, { connect: over }));
}

const jobs = (count: number, input: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, ...input } }));

it('leaves the folder that a local run leaves', async () => {
  await startWorker();
  const rows = [
    ...jobs(12),
    { id: 'bad', endpoint: 'echo', input: { fail: 'as asked' } },
    { id: 'call', route: '/echo', body: { a: 1 } },
    { id: 'info', route: '/info', method: 'GET' },
  ];
  const path = folder.manifest(rows);
  const there = await collect(path, { assumePriceUsd: 0.01 });
  const local = runFolder();
  closing.push(() => Promise.resolve(local.remove()));
  local.manifest(rows);
  const { apiKey, baseUrl, lbBaseUrl } = emulator;
  const here = await local.run({ key: apiKey, baseUrl, lbBaseUrl }, { assumePriceUsd: 0.01 });
  expect([there.exitCode, there.reason]).toEqual([here.exitCode, here.reason]);
  expect(plain(folder, 'results.jsonl')).toEqual(plain(local, 'results.jsonl'));
  expect(plain(folder, 'failures.jsonl')).toEqual(plain(local, 'failures.jsonl'));
  const costs = (of: RunFolder) =>
    of
      .costs()
      .map(({ id, attempt, cost, source }) => [id, attempt, cost, source].join())
      .sort();
  expect(costs(folder)).toEqual(costs(local));
  expect(there.summary.cost).toEqual(here.summary.cost);
  expect(there.summary.rows).toEqual(here.summary.rows);
  expect(await collect(path, { assumePriceUsd: 0.01 })).toMatchObject({
    exitCode: 0,
    reason: expect.stringContaining('Nothing to do'),
  });
  expect(folder.text('journal.jsonl') + folder.text('distributed.json')).not.toContain(emulator.apiKey);
});

it('has its workers send the low priority of a start, and of no other start', async () => {
  const bodies: string[] = [];
  const queue = await serveQueue({ answer: (_request, _response, body) => (bodies.push(body), false) });
  closing.push(async () => queue[Symbol.asyncDispose]());
  await startWorker({ baseUrl: queue.url });
  const given = { baseUrl: queue.url, assumePriceUsd: 0.01 } as const;
  await collect(folder.manifest(jobs(1)), { ...given, lowPriority: true });
  await collect(folder.manifest(jobs(2)), given);
  expect(bodies.filter((body) => body !== '')).toEqual([
    '{"input":{"n":0},"policy":{"lowPriority":true}}',
    '{"input":{"n":1}}',
  ]);
});

it('deals rows by their priority, and takes it to which rows fit under the cap', async () => {
  const ns: unknown[] = [];
  const queue = await serveQueue({
    answer: (_request, _response, body) => {
      if (body !== '') ns.push((JSON.parse(body) as { input: { n: unknown } }).input.n);
      return false;
    },
  });
  closing.push(async () => queue[Symbol.asyncDispose]());
  await startWorker({ baseUrl: queue.url });
  const priorities = [undefined, 2, -1, 2, 1, undefined];
  const path = folder.manifest(
    jobs(6).map((row, at) => ({ ...row, ...(priorities[at] !== undefined && { priority: priorities[at] }) })),
  );
  const given = { baseUrl: queue.url, assumePriceUsd: 0.01, concurrency: 1 } as const;
  expect((await collect(path, { ...given, maxCostUsd: 0.03 })).exitCode).toBe(3);
  expect(ns).toEqual([1, 3, 4]);
  await collect(path, { ...given, maxCostUsd: null });
  expect(ns).toEqual([1, 3, 4, 0, 5, 2]);
});

it('takes up what failed, and what was left by --limit', async () => {
  await startWorker();
  const path = folder.manifest([...jobs(8), { id: 'bad', endpoint: 'echo', input: { fail: 'once' } }]);
  const first = await collect(path, { limit: 3 });
  expect(first.summary.rows).toMatchObject({ completed: 3, toDo: 6 });
  expect((await collect(path)).exitCode).toBe(1);
  folder.manifest([...jobs(8), { id: 'bad', endpoint: 'echo', input: { n: 'mended' } }]);
  const mended = await collect(path, { retry: ['failed'] });
  expect([mended.exitCode, mended.summary.rows.completed]).toEqual([0, 9]);
  const [bad] = folder.lines('results.jsonl').filter(({ id }) => id === 'bad');
  expect(bad).toMatchObject({ output: { echo: { n: 'mended' } }, attempts: 2 });
});

it('stops when it is told to, tells the workers, and goes on', async () => {
  await startWorker();
  const path = folder.manifest(jobs(40, { sleepMs: 300 }));
  const stop = new Subject<StopOrder>();
  const given = {
    manifest: { path },
    out: folder.out,
    apiKey: emulator.apiKey,
    baseUrl: emulator.baseUrl,
    concurrency: 4,
    stop,
  };
  const run = runDistributed(given, { connect });
  let isStopped = false;
  run.subscribe((event) => {
    if (event.type !== 'ended' || isStopped) return;
    isStopped = true;
    stop.next('graceful');
  });
  const stopped = await finished(run);
  expect(stopped.exitCode).toBe(130);
  expect(stopped.summary.rows.toDo).toBeGreaterThan(0);
  const again = await collect(path);
  expect([again.exitCode, again.summary.rows]).toEqual([0, { total: 40, completed: 40, failed: 0, toDo: 0 }]);
  expect(new Set(folder.lines('results.jsonl').map(({ id }) => id)).size).toBe(40);
});

it('holds the cap, remembers it, and lifts it', async () => {
  await startWorker();
  await startWorker();
  const path = folder.manifest(jobs(30));
  const capped = await collect(path, { maxCostUsd: 0.1, assumePriceUsd: 0.01 });
  expect([capped.exitCode, capped.summary.rows.completed]).toEqual([3, 10]);
  const later = await collect(path, { assumePriceUsd: 0.01 });
  expect([later.exitCode, later.summary.rows.completed]).toEqual([3, 10]);
  const lifted = await collect(path, { assumePriceUsd: 0.01, maxCostUsd: null });
  expect([lifted.exitCode, lifted.summary.rows.completed]).toEqual([0, 30]);
});

it('goes on where a collector died between two records', { timeout: 60_000 }, async () => {
  await startWorker();
  const path = folder.manifest(jobs(6));
  await collect(path);
  const journal = join(folder.out, 'journal.jsonl');
  const whole = readFileSync(journal);
  const note = folder
    .text('distributed.json')
    .replace(/"collected":\d+,"among":\d+/, '"collected":0,"among":0')
    .replace('"isOpen":false', '"isOpen":true');
  const lines = whole.toString().split('\n').slice(0, -1);
  // What a dying collector copied: some rows, and of one the first records alone.
  for (const kept of [2, 3, 4, 9]) {
    // Its files never ran ahead of its journal.
    for (const name of ['summary.json', 'results.jsonl', 'costs.csv']) rmSync(join(folder.out, name));
    writeFileSync(journal, `${lines.slice(0, kept).join('\n')}\n`);
    writeFileSync(join(folder.out, 'distributed.json'), note);
    // Each is a crash of its own: what the one before has noted outside of the folder is none of its past.
    const stateFolders = [join(folder.path, `state-${kept}`)];
    const again = await collect(path, { hold: (out) => holdRun(out, { stateFolders }) });
    expect([kept, again.exitCode, again.summary.rows.completed]).toEqual([kept, 0, 6]);
    expect(
      folder
        .lines('results.jsonl')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
    expect(folder.costs()).toHaveLength(6);
  }
});

it('is known by its journal where distributed.json is lost: nothing is bought again, with the database or without [fault 19b]', async () => {
  await startWorker();
  const path = folder.manifest(jobs(6));
  await collect(path);
  const journal = join(folder.out, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').split('\n').slice(0, -1);
  // A collector that was killed: it had copied one row, and the workers have done the others since.
  for (const name of ['summary.json', 'results.jsonl', 'costs.csv', 'distributed.json'])
    rmSync(join(folder.out, name));
  writeFileSync(journal, `${lines.slice(0, 4).join('\n')}\n`);
  const bought = emulator.bill().length;
  const { apiKey, baseUrl, lbBaseUrl } = emulator;
  const hold = (out: string) => holdRun(out, { stateFolders: [join(folder.path, 'state')] });
  const given = { manifest: { path }, out: folder.out, apiKey, baseUrl, lbBaseUrl, hold };
  const here = await finished(runBatch(given));
  expect([here.exitCode, here.reason]).toEqual([2, expect.stringContaining('distributed.json')]);
  expect(here.reason).not.toContain(new URL(database.url).password);
  const there = await collect(path, { hold });
  expect([there.exitCode, there.summary.rows.completed]).toEqual([0, 6]);
  expect(emulator.bill()).toHaveLength(bought);
  expect(folder.costs()).toHaveLength(6);
  // All of its rows have ended: it goes on either way.
  expect(await finished(runBatch(given))).toMatchObject({ exitCode: 0 });
});

it('notices a job id that a start without the database had: the second row is held [fault 12c]', async () => {
  const ids = ['a', 'b', 'c', 'a', 'b', 'd'];
  await using service = await serveQueue({
    answer: (request, response) => {
      if (!request.url?.endsWith('/run')) return false;
      response.end(JSON.stringify({ id: ids.shift(), status: 'IN_QUEUE' }));
      return true;
    },
  });
  const { url: baseUrl } = service;
  await startWorker({ baseUrl });
  const path = folder.manifest(jobs(6));
  const given = { concurrency: 1, baseUrl } as const;
  const { apiKey } = emulator;
  const local = { manifest: { path, mode: 'async' }, out: folder.out, apiKey, baseUrl, limit: 3 } as const;
  expect((await finished(runBatch({ ...local, concurrency: 1 }))).exitCode).toBe(0);
  expect((await collect(path, { ...given, manifest: { path, mode: 'async' } })).exitCode).toBe(6);
  const failures = folder.lines('failures.jsonl');
  expect(failures.map(({ id }) => id)).toEqual(['r3', 'r4']);
  expect(JSON.stringify(failures)).toMatch(/names job .{1,3}a.{1,3}, which .{1,3}r0.{1,3} has already/);
  expect(folder.lines('results.jsonl').map(({ id }) => id)).toEqual(['r0', 'r1', 'r2', 'r5']);
});

it('leaves a run to the last of two starts, from two copies of its folder: each row is bought once [fault 19]', async () => {
  await startWorker();
  const path = folder.manifest(jobs(12));
  await collect(path, { limit: 2 });
  const bought = emulator.bill().length;
  const gates = [new Subject<void>(), new Subject<void>()] as const;
  const asked = [new ReplaySubject<void>(1), new ReplaySubject<void>(1)] as const;
  const start = (place: 0 | 1, out: string) =>
    collect(path, {
      out,
      hold: (held) => holdRun(held, { stateFolders: [join(folder.path, `machine-${place}`)] }),
      confirm: async () => {
        const opened = firstValueFrom(gates[place].pipe(map(() => true)));
        asked[place].next();
        return opened;
      },
    });
  const copy = join(folder.path, 'copy');
  cpSync(folder.out, copy, { recursive: true });
  const first = start(0, folder.out);
  await firstValueFrom(asked[0]);
  const second = start(1, copy);
  await firstValueFrom(asked[1]);
  gates[0].next();
  expect((await first).exitCode).toBe(75);
  gates[1].next();
  expect((await second).exitCode).toBe(0);
  expect(emulator.bill().length - bought).toBe(10);
});

it('goes on in another database, but where rows may be on their way; refuses options that no worker could obey', async () => {
  await startWorker();
  const path = folder.manifest(jobs(2));
  await collect(path, { limit: 1 });
  const other = await openDatabase();
  const there = () => connectDatabase({ url: other.url });
  await startWorker({}, there);
  closing.push(() => other.close());
  const note = join(folder.out, 'distributed.json');
  const closed = readFileSync(note, 'utf8');
  writeFileSync(note, closed.replace('"isOpen":false', '"isOpen":true'));
  const elsewhere = await collect(path, {}, there);
  expect(elsewhere.exitCode).toBe(2);
  expect(elsewhere.reason).toContain('Name that database. If it is gone for good, --repair');
  expect(elsewhere.reason).not.toContain(new URL(database.url).password);
  writeFileSync(note, closed);
  const moved = await collect(path, {}, there);
  expect([moved.exitCode, moved.summary.rows.completed]).toEqual([0, 2]);
  expect(() => runDistributed({ manifest: { path }, out: folder.out, rate: 'runpod' }, { connect })).toThrow(
    '--db',
  );
});

it('prints once why workers have ended, and goes on with the others', async () => {
  const path = folder.manifest(jobs(40, { sleepMs: 50 }));
  await startWorker({ apiKey: 'another-key' });
  await startWorker({ apiKey: 'another-key' });
  await startWorker();
  const { exitCode, events } = await collect(path, { concurrency: 6 });
  const warnings = events.flatMap((event) => (event.type === 'warning' ? event.message : []));
  expect([exitCode, warnings]).toEqual([
    0,
    [expect.stringMatching(/^A worker has ended: Stopped because the service refuses the API key/)],
  ]);
});

it('says that nobody works', async () => {
  const path = folder.manifest(jobs(2));
  const stop = new Subject<StopOrder>();
  const given = {
    manifest: { path },
    out: folder.out,
    apiKey: emulator.apiKey,
    baseUrl: emulator.baseUrl,
    stop,
  };
  const run = runDistributed(given, { connect });
  run.subscribe((event) => {
    if (event.type === 'warning' && event.code === 'workers') stop.next('graceful');
  });
  const { events, exitCode } = await finished(run);
  expect(exitCode).toBe(130);
  expect(events).toContainEqual(
    expect.objectContaining({ code: 'workers', message: expect.stringContaining('2 rows wait') }),
  );
});

/** Lines without what differs from one run to the next. */
function plain(of: RunFolder, name: string): unknown[] {
  const varying = ['jobId', 'submittedAt', 'settledAt', 'delayTime', 'executionTime'];
  const strip = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(strip)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value).flatMap(([key, inner]) =>
              varying.includes(key) ? [] : [[key, strip(inner)]],
            ),
          )
        : value;
  return of
    .lines(name)
    .map((line) => JSON.parse(JSON.stringify(strip(line)).replace(/[\w-]{36}-u\d/g, 'a job')) as unknown)
    .sort((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));
}
