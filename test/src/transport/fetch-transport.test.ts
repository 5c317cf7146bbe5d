import { firstValueFrom, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCoreClient } from '../../../src/endpoints/client-on.js';
import { createFetchTransport } from '../../../src/transport/fetch/fetch-transport.js';
import type { TransportError } from '../../../src/transport/transport-error.js';
import type { WireRequest } from '../../../src/transport/transport.js';
import { bodyOf, closedPort, serveHttp, serveTcp } from '../../support/loopback-server.js';
import { serveQueue } from '../../support/queue-server.js';
import { requestTo } from '../../support/virtual-time.js';

const to = (url: string, more: Partial<WireRequest> = {}): WireRequest => ({
  ...requestTo('/x'),
  url,
  body: '{"input":{}}',
  headers: { Authorization: 'Bearer canary-key-0123', 'User-Agent': 'millrace/0' },
  ...more,
});
const send = (request: WireRequest, transport = createFetchTransport()) => firstValueFrom(transport(request));

describe('the transport over fetch', () => {
  it('sends method, body and headers, and gives any status as a reply', async () => {
    await using server = await serveHttp((request, response) => {
      const { method, headers, url } = request;
      response.writeHead(418, { 'X-Request-Id': 'r1' });
      const echo = (body: string) => JSON.stringify([method, url, headers['authorization'], body]);
      void bodyOf(request).then((body) => response.end(echo(body)));
    });
    const reply = await send(to(`${server.url}/v2/e/run`));
    expect(reply).toMatchObject({ status: 418, headers: { 'x-request-id': 'r1' } });
    expect(JSON.parse(reply.body)).toStrictEqual([
      ...['POST', '/v2/e/run', 'Bearer canary-key-0123', '{"input":{}}'],
    ]);
  });

  it('reads a body of several parts, cut within a character', async () => {
    const bytes = Buffer.from('ä€𝄞'.repeat(9));
    await using server = await serveHttp((_, response) => {
      response.write(bytes.subarray(0, 4));
      setImmediate(() => response.end(bytes.subarray(4)));
    });
    expect(await send(to(server.url))).toMatchObject({ status: 200, body: 'ä€𝄞'.repeat(9) });
  });

  it('does not follow a redirect', async () => {
    await using server = await serveHttp((_, response) =>
      response.writeHead(307, { Location: 'http://other.example.test/' }).end(),
    );
    expect((await send(to(server.url))).status).toBe(307);
  });

  it('cannot say that a request never left: where nobody listens, and where the reply is lost, it may have', async () => {
    await using server = await serveTcp((socket) => socket.once('data', () => socket.destroy()));
    for (const port of [await closedPort(), server.port]) {
      const error = (await send(to(`http://127.0.0.1:${port}/x?secret=1`)).catch(
        (e: unknown) => e,
      )) as TransportError;
      expect(error).toMatchObject({ name: 'TransportError', sent: 'maybe', phase: 'reset', timedOut: false });
      expect(error.message).not.toMatch(/canary|secret/);
    }
  });

  it('ends a reply that grows past its cap, and one that breaks off', async () => {
    await using server = await serveHttp((request, response) => {
      response.writeHead(200, request.url === '/cut' ? { 'Content-Length': 9_000 } : {});
      response.write('x'.repeat(5_000));
      if (request.url === '/cut') setImmediate(() => response.destroy());
    });
    const large = to(server.url, { maxReplyBytes: 4_000 });
    await expect(send(large)).rejects.toMatchObject({ phase: 'too-large', sent: 'maybe' });
    await expect(send(to(`${server.url}/cut`))).rejects.toMatchObject({ phase: 'read', sent: 'maybe' });
  });

  it('times out before the head and within the body, each by its limits', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, Infinity);
    await using server = await serveHttp((request, response) => {
      if (request.url === '/body') response.writeHead(200).write('x');
    });
    const timeouts = { ...requestTo('/x').timeouts, responseMs: 5, requestMs: 1_000_000 };
    const noHead = send(to(server.url, { timeouts }), createFetchTransport({ scheduler }));
    scheduler.flush();
    await expect(noHead).rejects.toMatchObject({ phase: 'response', timedOut: true, sent: 'maybe' });
    let head = () => {};
    const arrived = new Promise<void>((resolve) => (head = resolve));
    const noting: typeof fetch = async (...call) => {
      const response = await fetch(...call);
      setImmediate(head);
      return response;
    };
    const clock = new VirtualTimeScheduler(undefined, Infinity);
    const noEnd = send(
      to(`${server.url}/body`, { timeouts }),
      createFetchTransport({ scheduler: clock, fetch: noting }),
    );
    await arrived;
    clock.flush();
    await expect(noEnd).rejects.toMatchObject({ phase: 'read', timedOut: true, sent: 'maybe' });
  });

  it('ends a reply of which no more bytes come, long before the limit of the whole', async () => {
    await using server = await serveHttp((_, response) => void response.writeHead(200).write('x'));
    const timeouts = { ...requestTo('/x').timeouts, idleMs: 100, readMs: 1_000_000, requestMs: 1_000_000 };
    const stalled = send(to(server.url, { timeouts }));
    await expect(stalled).rejects.toMatchObject({ phase: 'read', timedOut: true, sent: 'maybe' });
  });

  it('counts the time for sending only for a large body', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, 2_000);
    await using server = await serveHttp(() => undefined);
    const ms = { lookupMs: 1, connectMs: 1, secureConnectMs: 1, responseMs: 1_000, sendMs: 5_000 };
    const timeouts = { ...requestTo('/x').timeouts, ...ms, requestMs: 1_000_000 };
    const large = createFetchTransport({ scheduler })(to(server.url, { timeouts, body: 'x'.repeat(70_000) }));
    const ended: string[] = [];
    const subscription = large.subscribe({ error: () => ended.push('large') });
    createFetchTransport({ scheduler })(to(server.url, { timeouts })).subscribe({
      error: () => ended.push('small'),
    });
    scheduler.flush();
    subscription.unsubscribe();
    expect(ended).toStrictEqual(['small']);
  });

  it('is aborted when it is left', async () => {
    let aborted = false;
    const waits: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => {
          aborted = true;
          reject(new Error('aborted'));
        });
      });
    createFetchTransport({ fetch: waits })(to('http://x.example.test')).subscribe().unsubscribe();
    expect(aborted).toBe(true);
  });

  it('gives fetch no member that requests of the platform do not have: a worker at the edge throws at each', async () => {
    const sent: string[][] = [];
    const noting: typeof fetch = (_, init) => {
      sent.push(Object.keys(init ?? {}));
      return Promise.resolve(new Response('{"id":"j","status":"COMPLETED"}'));
    };
    const send = () => firstValueFrom(createFetchTransport({ fetch: noting })(to('http://x.example.test')));
    await send();
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.stubGlobal('Request', Object);
    await send();
    const always = ['method', 'headers', 'body', 'redirect', 'signal'];
    const [inNode = [], atEdge] = sent;
    expect(inNode.sort()).toStrictEqual([...always, 'cache', 'credentials', 'referrerPolicy'].sort());
    expect(atEdge?.sort()).toStrictEqual(always.sort());
  });

  it('holds a purchase as unknown whose connection was refused: nobody can tell', async () => {
    const client = createCoreClient({
      baseUrl: `http://127.0.0.1:${await closedPort()}`,
      transport: createFetchTransport(),
    });
    expect(await client.queue('e').run({}).outcome()).toMatchObject({ code: 'unknown', paid: 'maybe' });
  });

  it('buys once, whatever takes the job for an Observable of the platform', async () => {
    await using server = await serveQueue();
    const client = createCoreClient({ baseUrl: server.url, transport: createFetchTransport() });
    const job = client.queue('e').run({});
    const platform = <T>(from: { subscribe(observer: object): unknown }) =>
      new Promise<T[]>((resolve, reject) => {
        const all: T[] = [];
        from.subscribe({ next: (value: T) => all.push(value), error: reject, complete: () => resolve(all) });
      });
    const [one, two] = await Promise.all([platform<{ type: string }>(job), platform<{ type: string }>(job)]);
    expect([one.at(-1)?.type, two.at(-1)?.type, server.posts.length]).toStrictEqual([
      'settled',
      'settled',
      1,
    ]);
  });
});

describe('millrace/core', () => {
  it('has no transport of its own', () => {
    expect(() => createCoreClient({} as never)).toThrow('transport: is missing');
  });

  it('is the face of millrace without got', async () => {
    const [core, face] = await Promise.all([import('../../../src/core.js'), import('../../../src/index.js')]);
    expect(Object.keys(core).sort()).toStrictEqual(
      Object.keys(face)
        .filter((name) => name !== 'createGotTransport')
        .sort(),
    );
  });
});
