import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../runners/emulator/index.js';
import { type Asking, asking } from '../../../support/ask-emulator.js';
import { type ManualClock, manualClock } from '../../../support/manual-clock.js';

let emulator: Emulator;
let ask: Asking;
let clock: ManualClock;

beforeEach(async () => {
  clock = manualClock();
  emulator = await startEmulator({ clock, workers: 1, functions: { queue } });
  ask = asking(emulator);
});

afterEach(() => emulator.close());

const queue = {
  async *count({ to }: Record<string, unknown>, job: { sleep(ms: number): Promise<void> }) {
    for (let n = 1; n <= Number(to); n += 1) {
      yield n;
      await job.sleep(100);
    }
  },
  flaky: (_input: unknown, job: { attempt: number }) => {
    if (job.attempt === 1) throw Object.assign(new Error('not yet'), { status: 422 });
    return `attempt ${job.attempt}`;
  },
  slowly: async (
    _input: unknown,
    job: { progress(output: unknown): void; sleep(ms: number): Promise<void> },
  ) => {
    job.progress({ half: true });
    await job.sleep(1_000);
    return 'whole';
  },
  circular: () => {
    const self: Record<string, unknown> = {};
    self.self = self;
    return self;
  },
  nothing: () => undefined,
};

describe('POST /run and GET /status', () => {
  it('goes from IN_QUEUE through IN_PROGRESS to COMPLETED and reports both times', async () => {
    const first = await ask.post('/v2/slowly/run', { input: {} });
    expect(first).toMatchObject({ status: 200, json: { status: 'IN_QUEUE' } });
    expect(Object.keys(first.json)).toEqual(['id', 'status']);
    const second = await ask.run('slowly', {});
    await ask.until('slowly', { inProgress: 1, inQueue: 1 });
    expect(await ask.status('slowly', first.json.id)).toMatchObject({
      status: 'IN_PROGRESS',
      output: { half: true },
    });
    expect(await ask.status('slowly', second)).toEqual({ id: second, status: 'IN_QUEUE' });
    await clock.advance(1_000);
    expect(await ask.status('slowly', first.json.id)).toEqual({
      id: first.json.id,
      status: 'COMPLETED',
      delayTime: 0,
      executionTime: 1_000,
      output: 'whole',
      workerId: 'worker-1',
    });
    await clock.advance(1_000);
    expect(await ask.status('slowly', second)).toMatchObject({ delayTime: 1_000, executionTime: 1_000 });
  });

  it('tells what the function threw', async () => {
    const id = await ask.run('echo', { fail: 'no such luck' });
    await ask.until('echo', { failed: 1 });
    expect(await ask.status('echo', id)).toMatchObject({ id, status: 'FAILED', error: 'no such luck' });
  });

  it('completes without an output, and fails where the output is no JSON', async () => {
    const none = await ask.run('nothing', {});
    const round = await ask.run('circular', {});
    await ask.until('circular', { failed: 1 });
    const reply = await ask.status('nothing', none);
    expect([reply.status, 'output' in reply]).toEqual(['COMPLETED', false]);
    expect((await ask.status('circular', round)).error).toMatch(/the function's output is not JSON: /);
  });

  it('keeps a result for 30 minutes after its end, and no longer', async () => {
    const id = await ask.run('echo', { sleepMs: 60_000 });
    await ask.until('echo', { inProgress: 1 });
    await clock.advance(60_000);
    await clock.advance(30 * 60_000);
    expect((await ask.status('echo', id)).status).toBe('COMPLETED');
    await clock.advance(1);
    expect(await ask.get(`/v2/echo/status/${id}`)).toMatchObject({
      status: 404,
      json: { error: 'job not found' },
    });
    expect(emulator.bill()).toMatchObject([{ id, status: 'COMPLETED', executions: 1 }]);
  });

  it('forgets a job 24 hours after its submission, whatever its state', async () => {
    const running = await ask.run('echo', { sleepMs: 200_000_000 });
    const waiting = await ask.run('echo', {});
    await ask.until('echo', { inProgress: 1 });
    await clock.advance(24 * 3_600_000);
    expect((await ask.status('echo', running)).status).toBe('IN_PROGRESS');
    await clock.advance(1);
    expect((await ask.get(`/v2/echo/status/${running}`)).status).toBe(404);
    expect((await ask.get(`/v2/echo/status/${waiting}`)).status).toBe(404);
    await ask.until('echo', { inProgress: 0, inQueue: 0 });
  });
});

describe('POST /runsync', () => {
  it('waits for the result', async () => {
    const { status, json } = await ask.post('/v2/echo/runsync', { input: { a: [1] } });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'COMPLETED',
      output: { echo: { a: [1] } },
      delayTime: 0,
      executionTime: 0,
    });
    expect(json.id).toMatch(/^sync-/);
  });

  it('answers a failure under 200, or under the code that the error names', async () => {
    const plain = await ask.post('/v2/echo/runsync', { input: { fail: 'broken' } });
    expect(plain).toMatchObject({ status: 200, json: { status: 'FAILED', error: 'broken' } });
    const coded = await ask.post('/v2/flaky/runsync', { input: {} });
    expect(coded).toMatchObject({ status: 422, json: { status: 'FAILED', error: 'not yet' } });
    expect((await ask.get(`/v2/flaky/status/${coded.json.id}`)).status).toBe(200);
  });

  it.each([
    ['', 90_000],
    ['?wait=1000', 1_000],
    ['?wait=300000', 300_000],
  ])('answers with an id when its wait%s is over', async (query, ms) => {
    const call = ask.post(`/v2/echo/runsync${query}`, { input: { sleepMs: 400_000 } });
    await ask.until('echo', { inProgress: 1 });
    let isAnswered = false;
    void call.then(() => (isAnswered = true));
    await clock.advance(ms - 1);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    const { status, json } = await call;
    expect([status, json.status]).toEqual([200, 'IN_PROGRESS']);
    await clock.advance(400_000 - ms);
    expect((await ask.status('echo', json.id)).status).toBe('COMPLETED');
  });

  it.each(['999', '300001', 'long', '-1', '1.5', ''])('refuses wait=%s', async (wait) => {
    const { status, json } = await ask.post(`/v2/echo/runsync?wait=${wait}`, { input: {} });
    expect([status, json.error]).toEqual([400, 'wait is out of bounds']);
    expect(emulator.bill()).toEqual([]);
  });

  it('keeps the result for a minute', async () => {
    const { json } = await ask.post('/v2/echo/runsync', { input: {} });
    await clock.advance(60_000);
    expect((await ask.status('echo', json.id)).status).toBe('COMPLETED');
    await clock.advance(1);
    expect((await ask.get(`/v2/echo/status/${json.id}`)).status).toBe(404);
  });
});

describe('GET /status-sync', () => {
  it('holds the request until the end, and until its wait is over', async () => {
    const id = await ask.run('echo', { sleepMs: 5_000 });
    await ask.until('echo', { inProgress: 1 });
    const short = ask.get(`/v2/echo/status-sync/${id}?wait=2000`);
    const long = ask.get(`/v2/echo/status-sync/${id}`);
    while (clock.pending() < 3) await ask.get('/v2/echo/health');
    await clock.advance(2_000);
    expect((await short).json.status).toBe('IN_PROGRESS');
    await clock.advance(3_000);
    expect((await long).json).toMatchObject({ id, status: 'COMPLETED' });
    expect((await ask.get(`/v2/echo/status-sync/${id}`)).json.status).toBe('COMPLETED');
    expect(clock.pending()).toBe(0);
  });
});

describe('GET /stream', () => {
  it('delivers each chunk once, holds while there is none, and ends with the job', async () => {
    const id = await ask.run('count', { to: 3 });
    await ask.until('count', { inProgress: 1 });
    expect((await ask.get(`/v2/count/stream/${id}`)).json).toEqual({
      status: 'IN_PROGRESS',
      stream: [{ output: 1 }],
    });
    const next = ask.get(`/v2/count/stream/${id}`);
    while (clock.pending() < 2) await ask.get('/v2/echo/health');
    await clock.advance(100);
    expect((await next).json).toEqual({ status: 'IN_PROGRESS', stream: [{ output: 2 }] });
    await clock.advance(200);
    expect((await ask.get(`/v2/count/stream/${id}`)).json).toEqual({
      status: 'COMPLETED',
      stream: [{ output: 3 }],
    });
    expect((await ask.get(`/v2/count/stream/${id}`)).json).toEqual({ status: 'COMPLETED', stream: [] });
    expect((await ask.status('count', id)).output).toEqual([1, 2, 3]);
  });

  it('answers with nothing after a second', async () => {
    const id = await ask.run('echo', { sleepMs: 9_000 });
    await ask.until('echo', { inProgress: 1 });
    const empty = ask.get(`/v2/echo/stream/${id}`);
    while (clock.pending() < 2) await ask.get('/v2/echo/health');
    await clock.advance(1_000);
    expect((await empty).json).toEqual({ status: 'IN_PROGRESS', stream: [] });
  });
});

describe('POST /cancel', () => {
  it('ends a running and a waiting job; an ended one stays as it is', async () => {
    const running = await ask.run('echo', { sleepMs: 1_000 });
    const waiting = await ask.run('echo', {});
    await ask.until('echo', { inProgress: 1, inQueue: 1 });
    expect((await ask.post(`/v2/echo/cancel/${waiting}`)).json).toEqual({ id: waiting, status: 'CANCELLED' });
    expect((await ask.post(`/v2/echo/cancel/${running}`)).json).toEqual({ id: running, status: 'CANCELLED' });
    expect((await ask.status('echo', running)).status).toBe('CANCELLED');
    expect((await ask.status('echo', waiting)).status).toBe('CANCELLED');
    expect((await ask.post('/v2/echo/runsync', { input: {} })).json.status).toBe('COMPLETED');
    const [, , done] = emulator.bill();
    expect((await ask.post(`/v2/echo/cancel/${done!.id}`)).json.status).toBe('COMPLETED');
    expect(emulator.bill().map((line) => [line.status, line.executions])).toEqual([
      ['CANCELLED', 1],
      ['CANCELLED', 0],
      ['COMPLETED', 1],
    ]);
    expect(clock.pending()).toBe(0);
  });
});

describe('POST /retry', () => {
  it('runs a failed job again under its id', async () => {
    const id = await ask.run('flaky', {});
    await ask.until('flaky', { failed: 1 });
    expect((await ask.post(`/v2/flaky/retry/${id}`)).json).toEqual({ id, status: 'IN_QUEUE' });
    await ask.until('flaky', { completed: 1 });
    expect(await ask.status('flaky', id)).toMatchObject({ status: 'COMPLETED', output: 'attempt 2' });
    expect(emulator.bill()).toMatchObject([{ id, executions: 2 }]);
    expect((await ask.get('/v2/flaky/health')).json.jobs.retried).toBe(1);
    await clock.advance(30 * 60_000 + 1);
    expect((await ask.get(`/v2/flaky/status/${id}`)).status).toBe(404);
  });

  it('refuses any other job', async () => {
    const { json } = await ask.post('/v2/echo/runsync', { input: {} });
    const refused = await ask.post(`/v2/echo/retry/${json.id}`);
    expect([refused.status, refused.json.detail]).toEqual([
      400,
      'it is COMPLETED, neither FAILED nor TIMED_OUT',
    ]);
  });
});

describe('GET /health and POST /purge-queue', () => {
  it('counts, and empties the queue of this endpoint alone', async () => {
    const running = await ask.run('echo', { sleepMs: 10 });
    const waiting = [await ask.run('echo', {}), await ask.run('echo', {})];
    const elsewhere = await ask.run('slowly', {});
    await ask.until('echo', { inProgress: 1, inQueue: 2 });
    expect((await ask.get('/v2/echo/health')).json).toEqual({
      jobs: { completed: 0, failed: 0, inProgress: 1, inQueue: 2, retried: 0 },
      workers: { idle: 0, initializing: 0, ready: 0, running: 1, throttled: 0, unhealthy: 0 },
    });
    expect((await ask.post('/v2/echo/purge-queue')).json).toEqual({ removed: 2, status: 'completed' });
    expect((await ask.status('echo', waiting[0]!)).status).toBe('CANCELLED');
    expect((await ask.status('slowly', elsewhere)).status).toBe('IN_PROGRESS');
    await clock.advance(10);
    expect((await ask.status('echo', running)).status).toBe('COMPLETED');
    expect(emulator.health('echo').jobs).toEqual({
      completed: 1,
      failed: 0,
      inProgress: 0,
      inQueue: 0,
      retried: 0,
    });
    expect(emulator.health().jobs.inProgress).toBe(1);
  });
});

describe('limits beside the input', () => {
  it('stops a job at its executionTimeout, which /retry takes up', async () => {
    const id = await ask.run('echo', { sleepMs: 5_000 }, { policy: { executionTimeout: 1_000 } });
    await ask.until('echo', { inProgress: 1 });
    await clock.advance(1_000);
    expect(await ask.status('echo', id)).toMatchObject({ status: 'TIMED_OUT', executionTime: 1_000 });
    expect((await ask.post(`/v2/echo/retry/${id}`)).json.status).toBe('IN_QUEUE');
  });

  it('drops a job after its ttl, and never runs it then', async () => {
    const running = await ask.run('echo', { sleepMs: 5_000 });
    const waiting = await ask.run('echo', {}, { policy: { ttl: 2_000 } });
    await ask.until('echo', { inProgress: 1, inQueue: 1 });
    await clock.advance(5_000);
    expect((await ask.get(`/v2/echo/status/${waiting}`)).status).toBe(404);
    expect((await ask.status('echo', running)).status).toBe('COMPLETED');
    expect(emulator.bill().find(({ id }) => id === waiting)).toMatchObject({ executions: 0 });
    expect(emulator.health('echo').jobs.inQueue).toBe(0);
  });

  it('lets jobs of low priority wait for all others', async () => {
    await ask.run('echo', { sleepMs: 10 });
    const low = await ask.run('echo', { sleepMs: 10 }, { policy: { lowPriority: true } });
    const normal = await ask.run('echo', { sleepMs: 10 });
    await ask.until('echo', { inProgress: 1, inQueue: 2 });
    await clock.advance(10);
    expect((await ask.status('echo', normal)).status).toBe('IN_PROGRESS');
    expect((await ask.status('echo', low)).status).toBe('IN_QUEUE');
  });

  it('tells a webhook of the end, three times at most', async () => {
    const reported: unknown[] = [];
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        reported.push(JSON.parse(body));
        response.writeHead(reported.length < 3 ? 500 : 200).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/told`;
    const id = await ask.run('echo', { a: 1 }, { webhook });
    for (const seen of [1, 2]) {
      while (reported.length < seen || clock.pending() === 0) await ask.get('/v2/echo/health');
      await clock.advance(10_000);
    }
    while (reported.length < 3) await ask.get('/v2/echo/health');
    expect(reported).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ id, status: 'COMPLETED' })),
    );
    expect(clock.pending()).toBe(0);
    receiver.close();
  });
});

describe('refusals', () => {
  it.each([
    ['GET', '/v2/echo/status/x'],
    ['POST', '/v2/echo/run'],
    ['POST', '/v2/echo/runsync'],
    ['GET', '/v2/echo/health'],
    ['POST', '/lb/echo'],
    ['GET', '/lb/info'],
    ['GET', '/lb/none'],
    ['GET', '/nowhere'],
    ['GET', '/emulator/bill'],
  ])('%s %s without or with a wrong key is 401', async (method, path) => {
    for (const key of [undefined, 'Bearer wrong', emulator.apiKey, `bearer ${emulator.apiKey}x`]) {
      const headers: Record<string, string> = key === undefined ? {} : { Authorization: key };
      const response = await fetch(emulator.baseUrl + path, { method, headers });
      expect([response.status, await response.json()]).toEqual([
        401,
        { error: 'unauthorized', detail: 'the API key is missing or invalid' },
      ]);
    }
    expect(emulator.bill()).toEqual([]);
  });

  it.each([
    ['/v2/none/run', 'endpoint not found'],
    ['/v2/none/runsync', 'endpoint not found'],
    ['/v2/none/cancel/x', 'endpoint not found'],
    ['/v2/echo/cancel/x', 'job not found'],
    ['/v2/echo/retry/x', 'job not found'],
    ['/v2/echo/status/x', 'not found'],
    ['/v1/echo/run', 'not found'],
    ['/v2/echo/run/', 'not found'],
  ])('POST %s is 404', async (path, error) => {
    expect(await ask.post(path, { input: {} })).toMatchObject({
      status: 404,
      json: { error, detail: expect.any(String) },
    });
  });

  it.each([
    '/v2/echo/run',
    '/v2/none/health',
    '/v2/echo/status/x',
    '/v2/echo/stream/x',
    '/v2/echo/status-sync/x',
  ])('GET %s is 404', async (path) => {
    expect((await ask.get(path)).status).toBe(404);
  });

  it('does not show a job under another endpoint', async () => {
    const id = await ask.run('echo', {});
    expect((await ask.get(`/v2/slowly/status/${id}`)).status).toBe(404);
  });

  it.each([
    ['no JSON', '{"input":', /the body is not JSON/],
    ['no object', '[]', /^the body: /],
    ['null', 'null', /^the body: /],
    ['no input', '{}', /^input: must be an object/],
    ['an input of another type', '{"input":"x"}', /^input: must be an object/],
    ['an array as input', '{"input":[]}', /^input: must be an object/],
    ['a bad policy', '{"input":{},"policy":{"ttl":-1}}', /^policy\.ttl: /],
    ['a bad webhook', '{"input":{},"webhook":"ftp://x"}', /^webhook: must be an http or https URL/],
    ['an empty body', '', /the body is not JSON/],
  ])('%s is 400 and makes no job', async (_name, body, detail) => {
    for (const path of ['run', 'runsync']) {
      const { status, json } = await ask.post(`/v2/echo/${path}`, body);
      expect([status, json.error]).toEqual([400, 'invalid input format']);
      expect(json.detail).toMatch(detail);
    }
    expect(emulator.bill()).toEqual([]);
  });

  it('wants JSON to be declared', async () => {
    const { status, json } = await ask.post('/v2/echo/run', '{"input":{}}', { 'Content-Type': 'text/plain' });
    expect([status, json.detail]).toEqual([400, 'a POST with a body carries Content-Type: application/json']);
  });

  it.each([
    ['run', 10_000_000],
    ['runsync', 20_000_000],
  ])('/%s takes %d bytes and not one more', async (path, limit) => {
    const shell = JSON.stringify({ input: { pad: '' } }).length;
    const body = (bytes: number) => JSON.stringify({ input: { pad: 'x'.repeat(bytes - shell) } });
    expect((await ask.post(`/v2/nothing/${path}`, body(limit))).status).toBe(200);
    const { status, json } = await ask.post(`/v2/nothing/${path}`, body(limit + 1));
    expect([status, json.error]).toEqual([400, 'exceeded max body size']);
    expect(emulator.bill()).toHaveLength(1);
  });

  it('answers 429 when far too many jobs are queued', async () => {
    await emulator.close();
    emulator = await startEmulator({ clock, workers: 1, maxQueued: 2 });
    ask = asking(emulator);
    await ask.run('echo', { sleepMs: 1_000 });
    await ask.until('echo', { inProgress: 1 });
    await ask.run('echo', {});
    await ask.run('echo', {});
    expect((await ask.post('/v2/echo/run', { input: {} })).status).toBe(429);
    expect(emulator.bill()).toHaveLength(3);
  });

  it('ignores further fields beside input, as live services do', async () => {
    expect((await ask.post('/v2/echo/run', { input: {}, s3Config: {}, webhookV2: 'x' })).status).toBe(200);
  });
});
