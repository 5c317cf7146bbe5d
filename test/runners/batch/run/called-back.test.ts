import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, Subject, tap } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MillraceError } from '../../../../src/contract/millrace-error.js';
import { runBatch } from '../../../../runners/batch/run-batch.js';
import type { RunBatchOptions, StopOrder } from '../../../../runners/batch/context/run-options.js';
import type { RunEvent } from '../../../../runners/batch/context/run-event.js';
import { startEmulator, type EmulatorOptions } from '../../../../runners/emulator/index.js';
import { freePort, serveHttp } from '../../../support/loopback-server.js';

const jobMs = 40;

/** A folder and an emulator whose jobs take 40 ms, and when each of them ended. */
async function openShop(options: EmulatorOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'called-back-'));
  const endedAt = new Map<unknown, number>();
  const queue = {
    timed: async ({ n }: Record<string, unknown>, job: { sleep: (ms: number) => Promise<void> }) => {
      await job.sleep(jobMs);
      endedAt.set(n, performance.now());
      return { n, cost: 0.01 };
    },
  };
  const emulator = await startEmulator({ functions: { queue }, workers: 20, ...options });
  onTestFinished(async () => {
    await emulator.close();
    await rm(folder, { recursive: true });
  });
  const run = async (
    count: number,
    more: Partial<RunBatchOptions> = {},
    onRow: (event: Extract<RunEvent, { type: 'row' }>) => void = () => undefined,
  ) => {
    const rows = Array.from({ length: count }, (_, n) => ({ id: `r${n}`, endpoint: 'timed', input: { n } }));
    const lags: number[] = [];
    const events: RunEvent[] = [];
    const look = (event: RunEvent) => {
      events.push(event);
      if (event.type === 'row') onRow(event);
      if (event.type === 'row' && event.event.type === 'settled')
        lags.push(performance.now() - (endedAt.get(Number(event.id.slice(1))) ?? 0));
    };
    const last = await lastValueFrom(
      runBatch({
        manifest: { rows },
        out: join(folder, 'out'),
        concurrency: 20,
        assumePriceUsd: 0.01,
        baseUrl: emulator.baseUrl,
        apiKey: emulator.apiKey,
        webhooks: { port: 0 },
        ...more,
      }).pipe(tap(look)),
    );
    if (last.type !== 'finished') throw new Error('it has not finished');
    const { summary } = last;
    lags.sort((one, other) => one - other);
    return {
      ...last,
      events,
      summary,
      calls: summary?.statusCalls ?? NaN,
      medianLagMs: lags[lags.length >> 1] ?? NaN,
    };
  };
  const lines = async (name: string) => {
    const text = await readFile(join(folder, 'out', name), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return { emulator, folder, out: join(folder, 'out'), run, lines };
}

const paidOnce = (bill: readonly { executions: number }[]) =>
  bill.every(({ executions }) => executions === 1);

describe('a run that is called back', () => {
  it('needs hardly a status call, and notices ends at once', async () => {
    const { run, emulator, out } = await openShop();
    const { exitCode, calls, medianLagMs, summary } = await run(300);
    expect(exitCode).toBe(0);
    // By the clock, of a machine that has other things to do: test/bench measures both, and wants 0.1 calls a row. Polls take more than one.
    expect(calls).toBeLessThanOrEqual(100);
    expect(medianLagMs).toBeLessThan(5_000);
    expect(summary?.thisStart.callbacks).toMatchObject({ taken: 300, refused: 0 });
    expect(emulator.bill()).toHaveLength(300);
    expect((await stat(join(out, '.webhook.json'))).mode & 0o777).toBe(0o600);
    const { secret } = JSON.parse(await readFile(join(out, '.webhook.json'), 'utf8')) as { secret: string };
    for (const name of ['journal.jsonl', 'results.jsonl', 'run.log', 'summary.json']) {
      const text = await readFile(join(out, name), 'utf8');
      expect(text).not.toContain(secret);
      expect(text).not.toMatch(/webhook":"http|127\.0\.0\.1:\d+\/[\w-]+\./);
    }
  });

  it('goes on as by polling where all callbacks are lost', async () => {
    const { run, emulator } = await openShop({ faults: 'callback-never=1' });
    const { exitCode, calls, summary } = await run(100);
    expect([exitCode, summary?.rows.completed]).toStrictEqual([0, 100]);
    expect(calls).toBeLessThan(600);
    expect(emulator.bill()).toHaveLength(100);
  });

  it.each(['reset-after@run=0.2', 'cut@run=0.2', 'malformed@run=0.1,html@run=0.1'])(
    'holds no row as unknown whose answer was lost: %s',
    async (faults) => {
      const { run, emulator } = await openShop({ faults });
      const { exitCode, summary } = await run(100);
      expect(summary?.failures).toStrictEqual({});
      expect([exitCode, summary?.rows.completed]).toStrictEqual([0, 100]);
      expect(emulator.bill()).toHaveLength(100);
      expect(paidOnce(emulator.bill())).toBe(true);
    },
  );

  it.each([
    'callback-first=0.3,callback-late=0.2:300,callback-twice=0.2,callback-forged=0.3',
    'callback-wrong-id=0.3,fail=0.2,callback-forged=0.3',
    'callback-wrong-id=0.3,callback-first=0.3',
  ])('takes genuine callbacks alone, whenever they come: %s', async (faults) => {
    const { run, emulator, lines } = await openShop({ faults });
    const { summary } = await run(100);
    const failed = summary?.rows.failed ?? 0;
    expect(summary?.failures).toStrictEqual(failed === 0 ? {} : { 'job-failed': failed });
    expect(failed > 0).toBe(faults.includes('fail'));
    expect(summary?.rows.completed).toBe(100 - failed);
    const bill = emulator.bill();
    expect(bill).toHaveLength(100);
    const rowOf = new Map(bill.map(({ id, input }) => [id, `r${String((input as { n: number }).n)}`]));
    for (const { id, jobId } of await lines('results.jsonl')) expect(rowOf.get(String(jobId))).toBe(id);
    expect(summary?.thisStart.callbacks?.refused).toBeGreaterThan(0);
  });

  it('ends with 2 before anything is sent where its port is taken', async () => {
    const other = await serveHttp(() => undefined);
    onTestFinished(() => other[Symbol.asyncDispose]());
    const { run, emulator } = await openShop();
    const { exitCode, reason } = await run(3, { webhooks: { port: other.port } });
    expect([exitCode, reason]).toStrictEqual([
      2,
      expect.stringContaining(`127.0.0.1:${other.port}: another`),
    ]);
    expect(emulator.bill()).toHaveLength(0);
  });

  it('listens on loopback, at a port of its own, unless it is told otherwise', async () => {
    const { run } = await openShop();
    const asked: object[] = [];
    const open = (where: object) => {
      asked.push(where);
      return Promise.reject(new MillraceError('usage', 'not here'));
    };
    expect((await run(1, { webhooks: { open } })).exitCode).toBe(2);
    expect((await run(1, { webhooks: { open, host: '::1', port: 9 } })).exitCode).toBe(2);
    expect(asked).toStrictEqual([
      { host: '127.0.0.1', port: 8_787 },
      { host: '::1', port: 9 },
    ]);
  });

  it('is the same run without callbacks: an address is no part of what a row asks for', async () => {
    const { run, emulator } = await openShop();
    expect((await run(2)).exitCode).toBe(0);
    const again = await run(3, { webhooks: undefined });
    expect([again.exitCode, again.summary?.rows]).toMatchObject([0, { completed: 3, failed: 0, toDo: 0 }]);
    expect(again.events.filter(({ type }) => type === 'warning')).toStrictEqual([]);
    expect((await run(3)).reason).toContain('Nothing to do');
    expect(emulator.bill()).toHaveLength(3);
  });

  it('names no webhook to /runsync', async () => {
    const { run, emulator } = await openShop();
    const bodies: string[] = [];
    const proxy = await serveHttp((request, response) => {
      const onward = http.request(
        `${emulator.baseUrl}${request.url ?? ''}`,
        { method: request.method, headers: request.headers },
        (reply) => reply.pipe(response.writeHead(reply.statusCode ?? 0, reply.headers)),
      );
      request.on('data', (part: Buffer) => bodies.push(part.toString()));
      request.pipe(onward);
    });
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const manifest = { rows: [{ id: 'a', endpoint: 'timed', input: { n: 1 } }], mode: 'sync' as const };
    const { exitCode, events } = await run(0, { manifest, baseUrl: proxy.url });
    expect(exitCode).toBe(0);
    expect(JSON.stringify(events.filter(({ type }) => type === 'warning'))).toContain('had no effect');
    expect(bodies.join()).toContain('"input"');
    expect(bodies.join()).not.toContain('webhook');
  });

  it('asks for a row whose request was out at a kill, once its callback has come', async () => {
    const { run, emulator, lines } = await openShop({ faults: 'reset-after@run=1,callback-late=1:1500' });
    const webhooks = { port: await freePort() };
    const stop = new Subject<StopOrder>();
    const first = await run(1, { webhooks, stop }, ({ event }) => {
      if (event.type === 'waiting' && event.why === 'callback') stop.next('now');
    });
    expect(first.exitCode).toBe(130);
    const { events, exitCode, summary } = await run(2, { webhooks });
    const held = events.filter((event) => event.type === 'warning' && event.code === 'held');
    expect(JSON.stringify(held)).toContain('called back about row \\"r0\\"');
    expect(events).toContainEqual({ type: 'reopened', id: 'r0', row: 1, isOfThisStart: false });
    expect([exitCode, summary?.rows, summary?.failures]).toMatchObject([0, { completed: 2, toDo: 0 }, {}]);
    expect(await lines('failures.jsonl')).toStrictEqual([]);
    expect((await lines('results.jsonl')).map(({ id }) => id).sort()).toStrictEqual(['r0', 'r1']);
    expect(emulator.bill()).toHaveLength(2);
  });

  it('takes the callback of a job that an earlier start has bought', async () => {
    const { run, emulator } = await openShop({ latency: '2s' });
    const webhooks = { port: await freePort() };
    const stop = new Subject<StopOrder>();
    const first = await run(1, { webhooks, stop }, ({ event }) => {
      if (event.type === 'accepted') stop.next('graceful');
    });
    expect([first.exitCode, first.summary?.rows.completed]).toStrictEqual([130, 0]);
    const second = await run(1, { webhooks });
    expect([second.exitCode, second.summary?.thisStart.callbacks?.taken]).toStrictEqual([0, 1]);
    expect(emulator.bill()).toHaveLength(1);
  });
});
