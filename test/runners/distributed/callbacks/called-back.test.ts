import { readFileSync } from 'node:fs';
import http from 'node:http';
import { asyncScheduler, firstValueFrom, ReplaySubject } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CalledWorker } from '../../../../runners/distributed/callbacks/called-worker.js';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import type { EmulatorOptions } from '../../../../runners/emulator/index.js';
import { CallbackTokens, postNamedIn } from '../../../../src/webhooks/callback-tokens.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { freePort, serveHttp } from '../../../support/loopback-server.js';
import { openSharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

const priced = { assumePriceUsd: 0.01 } as const;

/** A run of so many rows, a service, and one address for all processes that take callbacks: each call goes to the next one. */
async function openCalledRun(
  rows: number,
  service: EmulatorOptions = {},
  mayPass: (row: string) => Promise<void> = () => Promise.resolve(),
) {
  const run = await openSharedRun(database, service);
  onTestFinished(() => run.close());
  run.folder.manifest(
    Array.from({ length: rows }, (_, n) => ({ id: `r|${n}`, endpoint: 'echo', input: { n, sleepMs: 20 } })),
  );
  const ports: number[] = [];
  const calls: { status: number; body: string; path: string }[] = [];
  let turn = 0;
  const proxy = await serveHttp((request, response) => {
    const port = ports[turn++ % Math.max(ports.length, 1)] ?? 1;
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const path = request.url ?? '';
      const named = postNamedIn(path.slice(path.lastIndexOf('/') + 1));
      void mayPass(named?.row ?? '').then(() => send(path, body));
    });
    const send = (path: string, body: Buffer) => {
      const onward = http.request({ port, host: '127.0.0.1', path, method: 'POST' }, (reply) => {
        calls.push({ status: reply.statusCode ?? 0, body: body.toString(), path });
        reply.resume();
        response.writeHead(reply.statusCode ?? 502).end();
      });
      onward.on('error', () => response.writeHead(502).end());
      onward.end(body);
    };
  });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const listen = async () => {
    const port = await freePort();
    ports.push(port);
    return { port };
  };
  const collect = async (options: Parameters<typeof run.collect>[0] = {}) =>
    run.collect({ ...priced, webhooks: { url: proxy.url, port: await freePort() }, ...options });
  return { ...run, proxy, ports, calls, listen, collect };
}

const ends = (lines: Record<string, unknown>[]) => lines.filter(({ k }) => k === 'outcome');
const completed = (rows: number) => ({ completed: rows, failed: 0, toDo: 0 });

describe('a run over a database that is called back', () => {
  it.each([
    ['by the collector alone', 0],
    ['by two of three workers', 2],
  ])('needs hardly a status call where calls are taken %s', async (_, listening) => {
    const run = await openCalledRun(60);
    for (let worker = 0; worker < 3; worker++)
      await run.work({ slots: 8, ...(worker < listening && { webhooks: await run.listen() }) });
    const url = run.proxy.url;
    const end = await run.collect(listening === 0 ? { webhooks: { url, ...(await run.listen()) } } : {});
    expect([end.exitCode, end.reason]).toStrictEqual([0, '60 rows completed.']);
    expect(end.summary.rows).toMatchObject(completed(60));
    expect(run.calls.length).toBeGreaterThanOrEqual(60);
    expect(run.calls.filter(({ status }) => status !== 200)).toStrictEqual([]);
    expect(end.summary.statusCalls).toBeLessThanOrEqual(6);
    const { callbacks } = end.summary.thisStart;
    expect(callbacks).toStrictEqual(listening === 0 ? { taken: run.calls.length, refused: 0 } : undefined);
    expect(run.emulator.bill()).toHaveLength(60);
    const { secret } = JSON.parse(readFileSync(`${run.folder.out}/.webhook.json`, 'utf8')) as {
      secret: string;
    };
    for (const [name, bytes] of run.folder.everything())
      if (!name.endsWith('.webhook.json')) expect(bytes.includes(secret), name).toBe(false);
  });

  it('takes in a callback that comes when a poll has seen the end of its row: the next row needs no poll', async () => {
    const own = await connectDatabase({ url: database.url });
    onTestFinished(() => own.close());
    const waiting = () => own.pool.query('select from millrace.callbacks');
    const run = await openCalledRun(2, {}, async (row) => {
      if (row === 'r|0') await until(() => run.folder.lines('results.jsonl').length === 1);
      else await until(async () => run.calls.length > 0 && (await waiting()).rowCount === 0);
    });
    await run.work({ slots: 1 });
    const end = await run.collect({ webhooks: { url: run.proxy.url, ...(await run.listen()) } });
    expect([end.exitCode, end.summary.rows.completed]).toStrictEqual([0, 2]);
    expect(ends(run.folder.lines('journal.jsonl'))).toMatchObject([
      { id: 'r|0' },
      { id: 'r|1', statusCalls: 0 },
    ]);
  });

  it('holds no row as unknown whose answer was lost, and believes no forged call', async () => {
    const faults = 'reset-after@run=0.3,callback-forged=0.3,callback-twice=0.3,callback-first=0.1';
    const run = await openCalledRun(60, { faults });
    await run.work({ slots: 8, webhooks: await run.listen() });
    await run.work({ slots: 8 });
    const end = await run.collect();
    expect([end.exitCode, end.summary.failures]).toStrictEqual([0, {}]);
    expect(end.summary.rows).toMatchObject(completed(60));
    expect(run.calls.filter(({ status }) => status === 404).length).toBeGreaterThan(0);
    expect(run.emulator.bill()).toHaveLength(60);
    const rowOf = new Map(run.emulator.bill().map(({ id, input }) => [id, (input as { n: number }).n]));
    for (const { id, jobId } of run.folder.lines('results.jsonl'))
      expect(`r|${String(rowOf.get(String(jobId)))}`).toBe(id);
  });

  it('goes on as by polling where nobody is reached', async () => {
    const run = await openCalledRun(10, { faults: 'callback-never=1' });
    await run.work();
    const end = await run.collect();
    expect([end.exitCode, end.summary.rows.completed]).toStrictEqual([0, 10]);
  });

  it('takes the job of a request whose worker died before its answer came, if a callback names it', async () => {
    const run = await openCalledRun(1);
    const dead = await run.workUntil('answered');
    const collecting = run.collect({ webhooks: { url: run.proxy.url, ...(await run.listen()) } });
    await dead.isStuck;
    await run.work();
    await until(() => run.calls.some(({ status }) => status === 200));
    await dead.passAway();
    const end = await collecting;
    expect([end.exitCode, end.summary.rows]).toStrictEqual([0, { total: 1, ...completed(1) }]);
    const [bought, ...others] = run.emulator.bill();
    expect(others).toEqual([]);
    expect(run.folder.lines('results.jsonl')).toMatchObject([{ id: 'r|0', jobId: bought?.id }]);
    // The request was on the wire until its worker died, so the callback has only named the job: the next worker asks for it.
    expect(end.summary.statusCalls).toBeLessThanOrEqual(1);
  });

  it('polls the job of a request whose worker died, where a callback names it while no worker has the row to send it again', async () => {
    const journal = () => run.folder.lines('journal.jsonl');
    const run = await openCalledRun(1, {}, () => until(() => journal().some(({ k }) => k === 'reopen')));
    const dead = await run.workUntil('answered');
    const webhooks = { url: run.proxy.url, ...(await run.listen()) };
    const collecting = run.collect({ onUnknown: 'retry', webhooks });
    await dead.isStuck;
    // It is taken for dead, but its process lives: it would come back, and take the row before the callback.
    void dead.stop();
    await dead.passAway();
    await until(() => run.calls.some(({ status }) => status === 200));
    await run.work();
    const { exitCode, summary } = await collecting;
    expect([exitCode, summary.rows]).toStrictEqual([0, { total: 1, ...completed(1) }]);
    expect(summary.cost).toMatchObject({ estimated: 0.01, unknown: 0 });
    expect(run.emulator.bill()).toHaveLength(1);
  });

  it('counts such a job towards what was agreed to for prices in no list', async () => {
    const journal = () => run.folder.lines('journal.jsonl');
    const functions = { queue: { echo: () => ({ cost: 0.3 }) } };
    const run = await openCalledRun(1, { functions }, () =>
      until(() => journal().some(({ k }) => k === 'reopen')),
    );
    const dead = await run.workUntil('answered');
    const webhooks = { url: run.proxy.url, ...(await run.listen()) };
    const collecting = run.collect({ onUnknown: 'retry', webhooks, assumePriceUsd: undefined });
    await dead.isStuck;
    void dead.stop();
    await dead.passAway();
    await until(() => run.calls.some(({ status }) => status === 200));
    await run.work();
    expect(await collecting).toMatchObject({ exitCode: 0, summary: { cost: { reported: 0.3 } } });
    const own = await connectDatabase({ url: database.url });
    onTestFinished(() => own.close());
    const ledger =
      'select unlisted::int from millrace.ledgers where run = (select max(run) from millrace.ledgers)';
    expect((await own.pool.query(ledger)).rows).toStrictEqual([{ unlisted: 300_000 }]);
  });

  it('has the next start take the job of a held row, where the callback came when nobody was there any more', async () => {
    const run = await openCalledRun(2, { faults: 'reset-after@run=1', latency: '3s' });
    const webhooks = { url: run.proxy.url, port: await freePort() };
    const first = await run.work();
    const collecting = run.collect({ webhooks });
    await until(() => run.emulator.bill().length === 2);
    // It waits for no callback then: its rows are held.
    await first();
    expect((await collecting).exitCode).toBe(6);
    const next = await run.work({ webhooks: await run.listen() });
    await until(() => run.calls.filter(({ status }) => status === 200).length === 2);
    const end = await run.collect({ webhooks });
    await next();
    expect([end.exitCode, end.summary.rows]).toStrictEqual([0, { total: 2, ...completed(2) }]);
    expect(run.folder.lines('failures.jsonl')).toStrictEqual([]);
    expect(run.emulator.bill()).toHaveLength(2);
  });

  it('takes it in the same start, where another row was in work then', async () => {
    const run = await openCalledRun(2, { faults: 'reset-after@run=1', latency: '5s' });
    const webhooks = { url: run.proxy.url, ...(await run.listen()) };
    const first = await run.work({ slots: 1 });
    const collecting = run.collect({ webhooks });
    await until(() => run.emulator.bill().length === 1);
    await first();
    await until(() => run.folder.lines('failures.jsonl').length === 1);
    const next = await run.work({ webhooks: await run.listen() });
    const { exitCode, summary, events } = await collecting;
    await next();
    expect(events).toContainEqual({ type: 'reopened', id: 'r|0', row: 1, isOfThisStart: true });
    expect([exitCode, summary.rows]).toStrictEqual([0, { total: 2, ...completed(2) }]);
    expect(run.folder.lines('failures.jsonl')).toStrictEqual([]);
    expect(run.folder.costs().map(({ id, source }) => [id, source])).not.toContainEqual(['r|0', 'unknown']);
    expect(run.emulator.bill()).toHaveLength(2);
    const own = await connectDatabase({ url: database.url });
    onTestFinished(() => own.close());
    const left = 'select id from millrace.callbacks where run = (select max(run) from millrace.runs)';
    expect((await own.pool.query(left)).rows).toStrictEqual([]);
  });
});

it('a worker takes all calls of a run that are the first it hears of it, also those that come while it reads whose they are', async () => {
  const secret = { run: 'run-1', secret: 's'.repeat(43) };
  const read$ = new ReplaySubject<unknown>(1);
  let [reads, taken] = [0, 0];
  const query = (sql: string) => {
    if (!sql.includes('from millrace.runs')) return Promise.resolve({ rows: [], rowCount: 1 });
    reads++;
    return firstValueFrom(read$);
  };
  const worker = new CalledWorker({ pool: { query } as never, scheduler: asyncScheduler });
  const tokens = new CallbackTokens(secret.secret);
  let take: (request: never, response: never) => void = () => undefined;
  worker.takeFrom({ pass: (given) => (take = given) });
  const call = async (attempt: number) => {
    const url = `/${await tokens.of({ run: secret.run, row: 'a', attempt })}`;
    const body = (async function* () {
      yield Buffer.from(JSON.stringify({ id: `job-${attempt}`, status: 'COMPLETED', output: {} }));
    })();
    const request = Object.assign(body, { method: 'POST', url, headers: {} });
    return new Promise<number>((answer) => {
      taken++;
      take(request as never, { writeHead: answer, end: () => undefined } as never);
    });
  };
  const answers = [call(1), call(2)];
  await until(() => taken === 2 && reads === 1);
  read$.next({ rows: [{ number: 1, webhooks: JSON.stringify(secret) }] });
  expect(await Promise.all(answers)).toStrictEqual([200, 200]);
  expect(reads).toBe(1);
});
