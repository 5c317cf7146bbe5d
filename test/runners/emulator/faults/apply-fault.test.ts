import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../runners/emulator/index.js';
import { type Asking, asking } from '../../../support/ask-emulator.js';
import { type ManualClock, manualClock } from '../../../support/manual-clock.js';

let emulator: Emulator;
let ask: Asking;
let clock: ManualClock;
/** What the next requests of an operation meet. */
let faults: Record<string, string>;

beforeEach(async () => {
  faults = {};
  clock = manualClock();
  emulator = await startEmulator({ clock, faultOf: ({ operation }) => faults[operation] ?? '' });
  ask = asking(emulator);
});

afterEach(() => emulator.close());

const submit = () => ask.post('/v2/echo/run', { input: { n: 1 } });
const executions = () => emulator.bill().map((line) => [line.operation, line.executions, line.status]);
const ran = [['run', 1, 'COMPLETED']];

describe('a fault before', () => {
  it.each([400, 401, 403, 404, 429, 500, 502, 503, 504])('answers %d and makes no job', async (code) => {
    faults.run = String(code);
    const { status, json } = await submit();
    expect([status, typeof json.error, typeof json.detail]).toEqual([code, 'string', 'string']);
    expect(executions()).toEqual([]);
  });

  it.each([
    ['429', null],
    ['429:2', '2'],
    ['429:0', '0'],
    ['429:-5', '-5'],
    ['503:soon', 'soon'],
    ['429:date+30', 'Fri, 01 Jan 2027 00:00:30 GMT'],
    ['429:date-30', 'Thu, 31 Dec 2026 23:59:30 GMT'],
  ])('%s carries Retry-After %s', async (fault, header) => {
    faults.run = fault;
    expect((await submit()).headers.get('retry-after')).toBe(header);
  });

  it('resets the connection', async () => {
    faults.run = 'reset-before';
    expect(await rawPost()).toEqual({ error: 'ECONNRESET', body: '' });
    expect(executions()).toEqual([]);
  });

  it('hangs until the client gives up', async () => {
    faults.run = 'hang';
    const late = new AbortController();
    const body = JSON.stringify({ input: {} });
    const headers = { Authorization: `Bearer ${emulator.apiKey}`, 'Content-Type': 'application/json' };
    const hanging = fetch(`${emulator.baseUrl}/v2/echo/run`, {
      method: 'POST',
      body,
      headers,
      signal: late.signal,
    });
    await ask.until('echo', { completed: 0 });
    late.abort();
    await expect(hanging).rejects.toThrow(/abort/);
    expect(executions()).toEqual([]);
  });

  it('redirects', async () => {
    faults.run = 'redirect:http://127.0.0.1:9/elsewhere';
    const { status, headers } = await submit();
    expect([status, headers.get('location')]).toEqual([307, 'http://127.0.0.1:9/elsewhere']);
    expect(executions()).toEqual([]);
  });

  it('keeps a route from running', async () => {
    faults.route = '500';
    expect((await ask.post('/lb/echo', {})).status).toBe(500);
    expect(executions()).toEqual([]);
  });
});

describe('a fault after', () => {
  afterEach(async () => {
    await ask.until('echo', { completed: 1 });
    expect(executions()).toEqual(ran);
  });

  it('answers a code though the job runs', async () => {
    faults.run = '500-after';
    expect((await submit()).status).toBe(500);
  });

  it('resets the connection though the job runs', async () => {
    faults.run = 'reset-after';
    expect(await rawPost()).toEqual({ error: 'ECONNRESET', body: '' });
  });

  it('cuts the body in half', async () => {
    faults.run = 'cut';
    const { status, length, body, error } = await rawPost();
    expect([status, error]).toEqual([200, 'ECONNRESET']);
    expect(body).toHaveLength(length! >> 1);
  });

  it('ends the body too early for JSON, but properly for HTTP', async () => {
    faults.run = 'malformed';
    const { status, length, body, error } = await rawPost();
    expect([status, error]).toEqual([200, undefined]);
    expect(body).toHaveLength(length!);
    expect(() => JSON.parse(body)).toThrow();
  });

  it.each([
    ['html', /^<!doctype html>/],
    ['empty', /^$/],
    ['null', /^null$/],
  ])('answers %s under 200', async (fault, text) => {
    faults.run = fault;
    const reply = await submit();
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(text);
  });

  it('is slow', async () => {
    faults.run = 'slow:5s';
    let isAnswered = false;
    const slow = submit().finally(() => (isAnswered = true));
    await ask.until('echo', { completed: 1 });
    await clock.advance(4_999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect((await slow).json.status).toBe('IN_QUEUE');
  });

  it('drips', async () => {
    faults.run = 'drip:50';
    const dripping = submit();
    await ask.until('echo', { completed: 1 });
    for (let byte = 0; byte < 80; byte += 1) await clock.advance(50);
    expect((await dripping).json.status).toBe('IN_QUEUE');
    expect(clock.pending()).toBe(0);
  });
});

describe('a fault of a poll', () => {
  it('tells of another job, an unknown state, or an earlier one', async () => {
    const id = (await submit()).json.id;
    await ask.until('echo', { completed: 1 });
    faults.status = 'wrong-id';
    const other = await ask.status('echo', id);
    expect(other).toMatchObject({ status: 'COMPLETED' });
    expect(other.id).not.toBe(id);
    faults.status = 'unknown-status';
    expect(await ask.status('echo', id)).toMatchObject({ id, status: 'MYSTERY' });
    faults.status = 'unknown-status:PAUSED';
    expect(await ask.status('echo', id)).toMatchObject({ id, status: 'PAUSED' });
    faults.status = 'backwards';
    const earlier = await ask.status('echo', id);
    expect(earlier).toMatchObject({ id, status: 'IN_QUEUE' });
    expect(earlier).not.toHaveProperty('output');
    faults.status = '';
    expect(await ask.status('echo', id)).toMatchObject({
      id,
      status: 'COMPLETED',
      output: { echo: { n: 1 } },
    });
  });
});

/** A POST that tells what came over the wire. */
function rawPost(): Promise<{
  status?: number | undefined;
  length?: number;
  body: string;
  error?: string | undefined;
}> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${emulator.apiKey}`, 'Content-Type': 'application/json' };
    const call = request(
      `${emulator.baseUrl}/v2/echo/run`,
      { method: 'POST', headers, agent: false },
      (response) => {
        let body = '';
        const reported = { status: response.statusCode, length: Number(response.headers['content-length']) };
        response.setEncoding('utf8').on('data', (part: string) => (body += part));
        response.on('end', () => resolve({ ...reported, body }));
        response.on('error', (error: NodeJS.ErrnoException) =>
          resolve({ ...reported, body, error: error.code }),
        );
      },
    );
    call.on('error', (error: NodeJS.ErrnoException) => resolve({ body: '', error: error.code }));
    call.end(JSON.stringify({ input: { n: 1 } }));
  });
}
