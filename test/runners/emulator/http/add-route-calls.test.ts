import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../runners/emulator/index.js';
import { type Asking, asking } from '../../../support/ask-emulator.js';
import { type ManualClock, manualClock } from '../../../support/manual-clock.js';

let emulator: Emulator;
let ask: Asking;
let clock: ManualClock;

type Json = ReturnType<typeof JSON.parse>;

const routes = {
  'POST /sum': ({ numbers }: Json) => numbers.reduce((sum: number, n: number) => sum + n, 0),
  'GET /words/:word': (body: unknown, { params, query, method, path }: Json) => ({
    body,
    params,
    query,
    method,
    path,
  }),
  'GET /nothing': () => undefined,
  'POST /picky': () => {
    throw Object.assign(new Error('too small'), { status: 422, detail: 'at least 7' });
  },
  'POST /broken': () => AbortSignal.abort('a text').throwIfAborted(),
  'GET /huge': () => 10n,
};

beforeEach(async () => {
  clock = manualClock();
  emulator = await startEmulator({ clock, functions: { routes } });
  ask = asking(emulator);
});

afterEach(() => emulator.close());

describe('routes', () => {
  it('answer directly, without a job', async () => {
    expect(emulator.lbBaseUrl).toBe(`${emulator.baseUrl}/lb`);
    expect(await ask.post('/lb/sum', { numbers: [1, 2, 3] })).toMatchObject({ status: 200, text: '6' });
    expect((await ask.post('/lb/echo', { a: 1 })).json).toEqual({ echo: { a: 1 } });
    expect((await ask.get('/lb/info?x=1')).json).toEqual({
      service: 'millrace emulator',
      method: 'GET',
      query: { x: '1' },
    });
    expect((await ask.get('/lb/words/mill%20race?top=3')).json).toEqual({
      params: { word: 'mill race' },
      query: { top: '3' },
      method: 'GET',
      path: expect.stringContaining('/words/mill'),
    });
    expect((await ask.get('/lb/nothing')).text).toBe('null');
  });

  it('tell of failures as {error, detail} under a code', async () => {
    expect(await ask.post('/lb/picky', {})).toMatchObject({
      status: 422,
      json: { error: 'too small', detail: 'at least 7' },
    });
    expect(await ask.post('/lb/broken', {})).toMatchObject({
      status: 500,
      json: { error: 'a text', detail: expect.any(String) },
    });
    expect(await ask.post('/lb/echo', { fail: 'as asked' })).toMatchObject({
      status: 500,
      json: { error: 'as asked' },
    });
    expect(await ask.get('/lb/huge')).toMatchObject({
      status: 500,
      json: { error: expect.stringContaining('BigInt') },
    });
  });

  it.each([
    ['GET', '/lb/sum'],
    ['POST', '/lb/info'],
    ['GET', '/lb/none'],
    ['PUT', '/lb/echo'],
    ['DELETE', '/lb/info'],
    ['GET', '/lb'],
  ])('%s %s is 404', async (method, path) => {
    const headers = { Authorization: `Bearer ${emulator.apiKey}` };
    const response = await fetch(emulator.baseUrl + path, { method, headers });
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: 'not found', detail: `there is no ${method} ${path}` },
    ]);
  });

  it.each(['[]', 'null', '"x"', '{'])('refuse the body %s', async (body) => {
    expect(await ask.post('/lb/echo', body)).toMatchObject({
      status: 400,
      json: { error: 'invalid input format' },
    });
    expect(emulator.bill()).toEqual([]);
  });

  it('take 30 MB and no more', async () => {
    const body = (bytes: number) => JSON.stringify({ pad: 'x'.repeat(bytes - 10) });
    expect((await ask.post('/lb/picky', body(30_000_000))).status).toBe(422);
    expect(await ask.post('/lb/picky', body(30_000_001))).toMatchObject({
      status: 400,
      json: { error: 'exceeded max body size' },
    });
  });

  it('stand on the bill', async () => {
    await ask.post('/lb/sum', { numbers: [1] });
    await ask.get('/lb/info');
    await ask.post('/lb/picky', {});
    expect(emulator.bill()).toMatchObject([
      {
        operation: 'route',
        endpoint: 'POST /sum',
        input: { numbers: [1] },
        status: 'COMPLETED',
        executions: 1,
        costMicroDollars: 0,
      },
      { operation: 'route', endpoint: 'GET /info', input: null, status: 'COMPLETED' },
      { operation: 'route', endpoint: 'POST /picky', status: 'FAILED' },
    ]);
  });

  it('sleep by the clock and take at least the latency', async () => {
    await emulator.close();
    emulator = await startEmulator({ clock, latency: '200' });
    let isAnswered = false;
    const call = asking(emulator)
      .post('/lb/echo', { sleepMs: 50 })
      .finally(() => (isAnswered = true));
    while (clock.pending() < 1) await asking(emulator).get('/v2/echo/health');
    await clock.advance(50);
    await clock.advance(149);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect((await call).json).toEqual({ echo: { sleepMs: 50 } });
  });

  it('answer "no workers available" until one is there', async () => {
    await emulator.close();
    emulator = await startEmulator({ clock, coldStartMs: 5_000 });
    const { get } = asking(emulator);
    expect(await get('/lb/info')).toMatchObject({ status: 400, json: { error: 'no workers available' } });
    await clock.advance(4_999);
    expect((await get('/lb/info')).status).toBe(400);
    await clock.advance(1);
    expect((await get('/lb/info')).status).toBe(200);
    expect(emulator.bill()).toHaveLength(1);
  });
});
