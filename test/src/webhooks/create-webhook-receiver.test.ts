import { createHmac, webcrypto } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { EMPTY, NEVER, of, throwError, VirtualTimeScheduler, type Observable } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import type { Callback, CallbackResult, JobWebhook } from '../../../src/policy/job-webhook.js';
import {
  createWebhookReceiver,
  type WebhookReceiverOptions,
} from '../../../src/webhooks/create-webhook-receiver.js';
import type { WebhookCall } from '../../../src/webhooks/called-jobs.js';
import { serveHttp } from '../../support/loopback-server.js';

const secret = 'a secret of thirty-two characters';
const url = 'https://hooks.example/millrace';
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url');
const completed = JSON.stringify({ id: 'j', status: 'COMPLETED', output: 1 });

function receiverOf(options: Partial<WebhookReceiverOptions> = {}) {
  const receiver = createWebhookReceiver({ secret, url, run: 'r', hmac, ...options });
  const calls: WebhookCall[] = [];
  receiver.calls$.subscribe((call) => calls.push(call));
  const post = async (address: string, body: string | ReadableStream = completed, init: RequestInit = {}) =>
    receiver.fetch(new Request(address, { method: 'POST', body, ...init }));
  return { receiver, calls, post };
}

/** A job that answers each callback so, and what it was given. */
function listen(webhook: JobWebhook, take: () => Observable<CallbackResult> = () => of('settled')) {
  const given: Callback[] = [];
  const listening = webhook.listen((callback) => {
    given.push(callback);
    return take();
  });
  return { given, listening };
}

const statusOf = async (response: Promise<Response>) => (await response).status;

describe('a receiver', () => {
  it('gives a callback to its job, and answers 200 once that is durable', async () => {
    const { receiver, calls, post } = receiverOf();
    const webhook = receiver.row('row 7, ä/ö');
    const address = await webhook.address(2);
    expect(address).toMatch(/^https:\/\/hooks\.example\/millrace\/[\w-]+\.[\w-]{43}$/);
    const { given } = listen(webhook);
    const response = await post(address);
    expect([response.status, await response.text()]).toStrictEqual([200, 'settled\n']);
    expect(given).toStrictEqual([{ attempt: 2, body: completed }]);
    expect(calls).toStrictEqual([
      { run: 'r', row: 'row 7, ä/ö', attempt: 2, result: 'settled', status: 200 },
    ]);
  });

  it.each<[CallbackResult, number]>([
    ['noted', 200],
    ['foreign', 409],
    ['unreadable', 400],
  ])('answers %s with %i', async (result, status) => {
    const { receiver, post } = receiverOf();
    const webhook = receiver.row('a');
    listen(webhook, () => of(result));
    expect(await statusOf(post(await webhook.address(1)))).toBe(status);
  });

  it('answers 503 where nothing became durable, a job fails, or its row is not under way', async () => {
    const { receiver, post } = receiverOf();
    const webhook = receiver.row('a');
    const address = await webhook.address(1);
    expect(await statusOf(post(address))).toBe(503);
    const { listening } = listen(webhook, () => EMPTY);
    expect(await statusOf(post(address))).toBe(503);
    listening.unsubscribe();
    expect(await statusOf(post(address))).toBe(503);
  });

  it('answers 503 when nothing is durable after 8 s', async () => {
    const scheduler = new VirtualTimeScheduler();
    const { receiver, post } = receiverOf({ scheduler });
    const webhook = receiver.row('a');
    const { given } = listen(webhook, () => NEVER);
    const response = post(await webhook.address(1));
    while (given.length === 0) await new Promise(setImmediate);
    scheduler.flush();
    expect(await statusOf(response)).toBe(503);
    expect(scheduler.now()).toBe(8_000);
  });

  it('answers a replay after the end with 200, and asks nobody', async () => {
    const { receiver, post } = receiverOf({ orphan: () => throwError(() => new Error('asked')) });
    const webhook = receiver.row('a', 3);
    const address = await webhook.address(1);
    const { given, listening } = listen(webhook);
    webhook.ended({ status: 'completed', jobId: 'j', output: 1, costUsd: null });
    listening.unsubscribe();
    expect(await statusOf(post(address))).toBe(200);
    expect(given).toStrictEqual([]);
  });

  it('reports once a callback after the end that names another job, as where a service exchanges two of them', async () => {
    const { receiver, calls, post } = receiverOf();
    const webhook = receiver.row('a');
    const address = await webhook.address(1);
    webhook.ended({ status: 'completed', jobId: 'of b', output: 1, costUsd: null });
    for (let call = 0; call < 2; call++) expect(await statusOf(post(address))).toBe(200);
    const { id } = JSON.parse(completed) as { id: string };
    expect(calls.filter(({ result }) => result === 'double')).toStrictEqual([
      { run: 'r', row: 'a', attempt: 1, result: 'double', status: 0, jobId: id },
    ]);
  });

  it('knows by a callback that comes after a poll has seen the end that callbacks come', async () => {
    const scheduler = new VirtualTimeScheduler();
    const { receiver, post } = receiverOf({ scheduler });
    const webhook = receiver.row('a');
    const address = await webhook.address(1);
    const { listening } = listen(webhook);
    const polls = receiver.poll(pollFixed(1_000, scheduler));
    const job = polls.pollTimes({ key: 'a', submittedAt: 0 }).subscribe();
    polls.observe('a', { id: 'j', status: 'COMPLETED' }, 0);
    webhook.ended({ status: 'completed', jobId: 'j', output: 1, costUsd: null });
    job.unsubscribe();
    listening.unsubscribe();
    expect(await statusOf(post(address))).toBe(200);
    const times: number[] = [];
    polls.pollTimes({ key: 'b', submittedAt: 0 }).subscribe(() => times.push(scheduler.now()));
    scheduler.maxFrames = 10_000;
    scheduler.flush();
    expect(times).toStrictEqual([5_000, 10_000]);
  });

  it('takes a job that may have been made for one that has not ended', async () => {
    const orphans: unknown[] = [];
    const { receiver, post } = receiverOf({ orphan: (callback) => (orphans.push(callback), ['settled']) });
    const webhook = receiver.row('a');
    const address = await webhook.address(1);
    const { listening } = listen(webhook);
    webhook.ended({ status: 'failed', code: 'unknown', paid: 'maybe', message: '' });
    listening.unsubscribe();
    expect(await statusOf(post(address))).toBe(200);
    expect(orphans).toStrictEqual([{ run: 'r', row: 'a', attempt: 1, body: completed }]);
  });

  it('gives no callback of an earlier job of the row to the one that is under way', async () => {
    const { receiver, post } = receiverOf();
    const earlier = await receiver.row('a').address(1);
    const { given } = listen(receiver.row('a', 1));
    expect(await statusOf(post(earlier))).toBe(503);
    expect(given).toStrictEqual([]);
  });

  it('takes addresses of an earlier process of the same run', async () => {
    const address = await receiverOf().receiver.row('a').address(4);
    const { receiver, post } = receiverOf();
    const { given } = listen(receiver.row('a', 3));
    expect(await statusOf(post(address))).toBe(200);
    expect(given).toStrictEqual([{ attempt: 1, body: completed }]);
  });

  it('names each job of its own accord, also two with the same key', async () => {
    const { receiver } = receiverOf();
    expect(receiver.job('k').address(1)).not.toBe(receiver.job('k').address(1));
  });

  it('signs by WebCrypto as node:crypto does', async () => {
    Object.defineProperty(globalThis, 'crypto', { value: webcrypto, configurable: true });
    const web = createWebhookReceiver({ secret, url, run: 'r' });
    expect(await web.row('a').address(1)).toBe(receiverOf().receiver.row('a').address(1));
  });

  it.each([
    [{ secret: 'short' }, 'secret'],
    [{ url: 'ftp://x' }, 'url'],
    [{ url: 'https://x/?a=1' }, 'url'],
    [{ url: 'https://u:p@x/' }, 'url'],
  ])('refuses %j', (options, name) => {
    expect(() => receiverOf(options)).toThrow(new RegExp(`^${name}`));
  });
});

describe('a job whose POST had no answer', () => {
  const ended = { status: 'completed', jobId: 'j', output: 1, costUsd: null } as const;

  /** A receiver by virtual time, and how long such a job waits from `after` on, when callbacks have come or not. */
  async function waits(outcome: 'none' | 'called' | 'polled'): Promise<number> {
    const scheduler = new VirtualTimeScheduler();
    const { receiver, post } = receiverOf({ scheduler });
    const other = receiver.row('other');
    listen(other);
    if (outcome === 'called') await post(await other.address(1));
    if (outcome === 'polled')
      receiver.poll(pollFixed(1_000, scheduler)).observe('other', { id: 'j', status: 'COMPLETED' }, 0);
    other.ended(ended);
    let givenUpAt = NaN;
    receiver
      .row('a')
      .giveUp$.subscribe(() => (givenUpAt = Number.isNaN(givenUpAt) ? scheduler.now() : givenUpAt));
    scheduler.flush();
    return givenUpAt;
  }

  it('waits for ten minutes where nothing is known, a minute while callbacks come, half of one where they do not', async () => {
    expect(await waits('none')).toBe(600_000);
    expect(await waits('called')).toBe(60_000);
    expect(await waits('polled')).toBe(32_000);
  });
});

describe('a call that is no callback', () => {
  it('is answered 404 where it is forged, and reaches nobody', async () => {
    const { receiver, calls, post } = receiverOf();
    const webhook = receiver.row('a');
    const { given } = listen(webhook);
    const address = await webhook.address(1);
    const [named = '', mac = ''] = address.slice(url.length + 1).split('.');
    const other = createWebhookReceiver({ secret: `${secret}!`, url, run: 'r', hmac });
    const otherRun = createWebhookReceiver({ secret, url, run: 's', hmac });
    const swapped = `${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`;
    const forged = [
      ...[url, `${url}/`, `${url}/${named}`, `${url}/${named}.`, `${url}/.${mac}`],
      ...[`${url}/${named}.${swapped}`, `${url}/${named}x.${mac}`, `${url}/${named}.${mac}.x`],
      ...[`${url}/${'x'.repeat(5_000)}.${mac}`, await other.row('a').address(1)],
      await otherRun.row('a').address(1),
    ];
    for (const wrong of forged) expect([wrong, await statusOf(post(wrong))]).toStrictEqual([wrong, 404]);
    expect(given).toStrictEqual([]);
    expect(new Set(calls.map(({ result }) => result))).toStrictEqual(new Set(['forged']));
    expect(JSON.stringify(calls)).not.toContain(mac);
  });

  it('is answered 405 unless it is a POST', async () => {
    const { receiver } = receiverOf();
    const webhook = receiver.row('a');
    const { given } = listen(webhook);
    const address = await webhook.address(1);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await receiver.fetch(new Request(address, { method }))).status).toBe(405);
    expect(given).toStrictEqual([]);
  });

  it('is answered 413 beyond 1 MB, announced or not, and its job is asked for', async () => {
    const { receiver, post } = receiverOf();
    const webhook = receiver.row('a');
    const { given } = listen(webhook, () => of('unreadable'));
    const address = await webhook.address(1);
    const mega = 1024 * 1024;
    expect(await statusOf(post(address, 'x'.repeat(mega + 1)))).toBe(413);
    const part = new Uint8Array(mega / 2 + 1);
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(part) });
    expect(await statusOf(post(address, stream, { duplex: 'half' }))).toBe(413);
    expect(given.map(({ body }) => body)).toStrictEqual([undefined, undefined]);
    expect(await statusOf(post(address, 'x'.repeat(mega)))).toBe(400);
  });
});

describe('its handler for node:http', () => {
  async function served(options: Partial<WebhookReceiverOptions> = {}) {
    const { receiver, calls } = receiverOf(options);
    const server = await serveHttp(receiver.node);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const webhook = receiver.row('a');
    const token = (await webhook.address(1)).slice(url.length);
    return { server, calls, webhook, token, address: `${server.url}${token}` };
  }

  it('answers as the one for fetch', async () => {
    const { webhook, address, server } = await served();
    const { given } = listen(webhook);
    const post = (to: string, body = completed) => fetch(to, { method: 'POST', body });
    expect(await statusOf(post(`${address}?x=1`))).toBe(200);
    expect(given).toStrictEqual([{ attempt: 1, body: completed }]);
    expect(await statusOf(post(`${server.url}/forged`))).toBe(404);
    expect(await statusOf(fetch(address))).toBe(405);
  });

  it('answers 413 to a body that grows beyond 1 MB without an announced length, and ends the connection', async () => {
    const { webhook, token, server } = await served();
    listen(webhook, () => of('unreadable'));
    const request = http.request(`${server.url}${token}`, { method: 'POST' });
    request.on('error', () => undefined);
    const part = Buffer.alloc(600_000);
    request.write(part);
    request.write(part);
    const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve));
    expect([response.statusCode, response.headers.connection]).toStrictEqual([413, 'close']);
    request.destroy();
  });

  it('gives up a body that does not end, by the clock', async () => {
    const scheduler = new VirtualTimeScheduler();
    const { webhook, token, server, calls } = await served({ scheduler });
    const { given } = listen(webhook, () => of('unreadable'));
    const socket = net.connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write(`POST ${token} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`);
    while (scheduler.actions.length === 0) await new Promise(setImmediate);
    scheduler.flush();
    expect(await answered).toMatch(/^HTTP\/1\.1 413 /);
    expect(given).toStrictEqual([{ attempt: 1, body: undefined }]);
    expect(calls).toMatchObject([{ result: 'unreadable', status: 413 }]);
  });

  it('survives a caller that hangs up within the body', async () => {
    const { webhook, token, server, calls } = await served();
    listen(webhook, () => of('unreadable'));
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write(`POST ${token} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`, () => socket.destroy());
    while (calls.length === 0) await new Promise(setImmediate);
    expect(calls).toMatchObject([{ result: 'unreadable' }]);
  });
});
