import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import {
  phaseTimeouts,
  type PhaseTimeouts,
  type Transport,
  wireHeaders,
  type WireRequest,
} from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import { createUndiciTransport } from '../../../src/transport/undici/undici-transport.js';
import { authority, expired, otherHost, selfSigned, serverKey, trusted } from '../../support/certificates.js';
import { openDeafPort } from '../../support/deaf-port.js';
import { bodyOf, closedPort, serveHttp, serveHttps, serveTcp } from '../../support/loopback-server.js';

const key = 'canary-4f1f7c0e9d';

function post(
  url: string,
  more: Partial<WireRequest> = {},
  limits: Partial<PhaseTimeouts> = {},
): WireRequest {
  const headers = wireHeaders(key, true);
  return {
    method: 'POST',
    url,
    headers,
    body: '{"input":{}}',
    timeouts: phaseTimeouts(10_000, limits),
    paid: true,
    ...more,
  };
}

function get(url: string, more: Partial<WireRequest> = {}, limits: Partial<PhaseTimeouts> = {}): WireRequest {
  const headers = wireHeaders(key, false);
  return { method: 'GET', url, headers, timeouts: phaseTimeouts(10_000, limits), paid: false, ...more };
}

async function faultOf(transport: Transport, request: WireRequest): Promise<TransportError> {
  const error: unknown = await firstValueFrom(transport(request)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TransportError);
  return error as TransportError;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each([
  { name: 'got', create: createGotTransport },
  { name: 'undici', create: createUndiciTransport },
])('a transport on $name', ({ name, create }) => {
  describe('what goes over the wire', () => {
    it('sends method, path, query, headers and body as they are', async () => {
      let seen = {};
      await using server = await serveHttp((request, response) => {
        void bodyOf(request).then((body) => {
          const { authorization, accept, 'content-type': type, 'content-length': length } = request.headers;
          seen = { method: request.method, url: request.url, authorization, accept, type, length, body };
          seen = { ...seen, agent: request.headers['user-agent'] };
          response.end('{}');
        });
      });
      await firstValueFrom(
        create()(post(`${server.url}/v2/x/run?wait=1`, { body: '{"input":{"prompt":"Grüße"}}' })),
      );
      expect(seen).toEqual({
        method: 'POST',
        url: '/v2/x/run?wait=1',
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        type: 'application/json',
        length: '30',
        body: '{"input":{"prompt":"Grüße"}}',
        agent: expect.stringMatching(/^millrace\/\d/) as string,
      });
    });

    it('sends a GET without body, content type and length', async () => {
      let seen = {};
      await using server = await serveHttp((request, response) => {
        void bodyOf(request).then((body) => {
          const { 'content-type': type, 'content-length': length } = request.headers;
          seen = { method: request.method, type, length, body };
          response.end('{}');
        });
      });
      await firstValueFrom(create()(get(server.url)));
      expect(seen).toEqual({ method: 'GET', type: undefined, length: undefined, body: '' });
    });

    it('sends nothing before it is subscribed to, and once for each subscription', async () => {
      let count = 0;
      await using server = await serveHttp((_request, response) => {
        count++;
        response.end('{}');
      });
      const exchange = create()(get(server.url));
      expect(count).toBe(0);
      await firstValueFrom(exchange);
      await firstValueFrom(exchange);
      expect(count).toBe(2);
    });
  });

  describe('a reply', () => {
    it.each([200, 201, 204, 302, 304, 400, 401, 404, 429, 500, 503])(
      'is emitted once, under status %i',
      async (status) => {
        await using server = await serveHttp((_request, response) => {
          response.writeHead(status, { 'Retry-After': '7', Location: 'http://127.0.0.1:1/' });
          response.end();
        });
        const replies = await lastValueFrom(create()(post(server.url)).pipe(toArray()));
        expect(replies).toHaveLength(1);
        expect(replies[0]).toMatchObject({ status, body: '', headers: { 'retry-after': '7' } });
      },
    );

    it('keeps characters that arrive in pieces', async () => {
      await using server = await serveHttp((_request, response) => {
        const bytes = Buffer.from('"€"');
        response.write(bytes.subarray(0, 2));
        setImmediate(() => response.end(bytes.subarray(2)));
      });
      expect((await firstValueFrom(create()(get(server.url)))).body).toBe('"€"');
    });

    it('does not follow a redirect [fault 11]', async () => {
      let followed = 0;
      await using other = await serveHttp((_request, response) => {
        followed++;
        response.end();
      });
      await using server = await serveHttp((_request, response) => {
        response.writeHead(307, { Location: other.url }).end();
      });
      expect((await firstValueFrom(create()(post(server.url)))).status).toBe(307);
      expect(followed).toBe(0);
    });

    it.each([
      { encoding: 'gzip', compress: gzipSync },
      { encoding: 'x-gzip', compress: gzipSync },
      { encoding: 'deflate', compress: deflateSync },
      { encoding: 'deflate', compress: deflateRawSync },
      { encoding: 'br', compress: brotliCompressSync },
      { encoding: 'unheard-of', compress: (text: string) => Buffer.from(text) },
    ])('is decompressed from $encoding', async ({ encoding, compress }) => {
      await using server = await serveHttp((_request, response) => {
        response.writeHead(200, { 'Content-Encoding': encoding }).end(compress('{"id":"a"}'));
      });
      expect((await firstValueFrom(create()(get(server.url)))).body).toBe('{"id":"a"}');
    });

    it('may be empty and said to be compressed', async () => {
      await using server = await serveHttp((_request, response) => {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end();
      });
      expect((await firstValueFrom(create()(get(server.url)))).body).toBe('');
    });

    it('is a fault when its compression is broken', async () => {
      await using server = await serveHttp((_request, response) => {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('{"id":"a"}').subarray(0, 18));
      });
      expect(await faultOf(create(), post(server.url))).toMatchObject({ phase: 'read', sent: 'maybe' });
    });
  });

  describe('the cap on a reply', () => {
    it('takes a reply of exactly the cap', async () => {
      await using server = await serveHttp((_request, response) => response.end('x'.repeat(1000)));
      expect((await firstValueFrom(create()(get(server.url, { maxReplyBytes: 1000 })))).body).toHaveLength(
        1000,
      );
    });

    it('ends a reply that announces more [fault 12]', async () => {
      await using server = await serveHttp((_request, response) => {
        response.writeHead(200, { 'Content-Length': '1001' });
        response.flushHeaders();
      });
      const fault = await faultOf(create(), post(server.url, { maxReplyBytes: 1000 }));
      expect(fault).toMatchObject({ phase: 'too-large', sent: 'maybe', timedOut: false });
      expect(fault.message).toContain('1000 bytes');
    });

    it('ends a reply that grows past it [fault 12]', async () => {
      await using server = await serveHttp((_request, response) => {
        const pour = (): void => {
          response.write('x'.repeat(500));
          if (!response.destroyed) setImmediate(pour);
        };
        pour();
      });
      expect(await faultOf(create(), get(server.url, { maxReplyBytes: 1000 }))).toMatchObject({
        phase: 'too-large',
      });
    });

    it('does not inflate a bomb [fault 12]', async () => {
      const layer = gzipSync(Buffer.alloc(10_000_000));
      const bomb = Buffer.concat(Array.from({ length: 30 }, () => layer));
      await using server = await serveHttp((_request, response) => {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
      });
      const before = process.resourceUsage().maxRSS;
      expect(await faultOf(create(), get(server.url))).toMatchObject({ phase: 'too-large', sent: 'maybe' });
      expect(process.resourceUsage().maxRSS - before).toBeLessThan(200_000);
    });
  });

  describe('a connection that cannot be made', () => {
    it('was refused [fault 1]', async () => {
      const fault = await faultOf(create(), post(`http://127.0.0.1:${await closedPort()}/v2/x/run`));
      expect(fault).toMatchObject({
        phase: 'connect',
        systemCode: 'ECONNREFUSED',
        sent: 'no',
        timedOut: false,
      });
      expect(fault.message).toMatch(/^POST 127\.0\.0\.1:\d+\/v2\/x\/run: .*ECONNREFUSED/);
    });

    it.each(['ENOTFOUND', 'EAI_AGAIN'])('has no address (%s) [fault 1]', async (code) => {
      const lookup = vi.fn((_host: string, _options: unknown, callback: (error: Error) => void) =>
        callback(
          Object.assign(new Error(`getaddrinfo ${code} nowhere.example`), { code, syscall: 'getaddrinfo' }),
        ),
      );
      const fault = await faultOf(create({ lookup: lookup as never }), post('http://nowhere.example/'));
      expect(fault).toMatchObject({ phase: 'lookup', systemCode: code, sent: 'no' });
    });

    it.each([
      { problem: 'is self-signed', cert: selfSigned, code: /SELF_SIGNED/ },
      { problem: 'is for another host', cert: otherHost, code: /ALTNAME/ },
      { problem: 'has expired', cert: expired, code: /EXPIRED/ },
    ])('is not trusted: the certificate $problem', async ({ cert, code }) => {
      await using server = await serveHttps((_request, response) => response.end('{}'), {
        key: serverKey,
        cert,
      });
      const fault = await faultOf(create({ ca: authority }), post(server.url));
      expect(fault).toMatchObject({ phase: 'tls', sent: 'no', timedOut: false });
      expect(fault.systemCode).toMatch(code);
    });

    it('is not trusted, whatever the environment says [fault 10]', async () => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      await using server = await serveHttps((_request, response) => response.end('{}'), {
        key: serverKey,
        cert: selfSigned,
      });
      expect(await faultOf(create(), post(server.url))).toMatchObject({ phase: 'tls', sent: 'no' });
    });

    it('is trusted with an authority that is named', async () => {
      await using server = await serveHttps((_request, response) => response.end('{}'), {
        key: serverKey,
        cert: trusted,
      });
      expect((await firstValueFrom(create({ ca: authority })(post(server.url)))).status).toBe(200);
    });

    it('does not speak TLS at all', async () => {
      await using server = await serveHttp((_request, response) => response.end('{}'));
      const fault = await faultOf(create(), post(server.url.replace('http:', 'https:')));
      expect(fault).toMatchObject({ phase: 'tls', sent: 'no' });
    });

    it('is dropped while TLS is set up', async () => {
      await using server = await serveTcp((socket) => socket.once('data', () => socket.destroy()), 'https');
      expect(await faultOf(create(), post(server.url))).toMatchObject({
        phase: 'secure-connect',
        sent: 'no',
      });
    });

    it('has an address that is none', async () => {
      expect(await faultOf(create(), get('not a url'))).toMatchObject({ phase: 'send', sent: 'no' });
    });

    it('would carry a header that is none', async () => {
      const fault = await faultOf(
        create(),
        post('http://127.0.0.1:1/', { headers: wireHeaders(`${key}\n`, true) }),
      );
      expect(fault).toMatchObject({ phase: 'send', sent: 'no' });
      expect(inspect(fault)).not.toContain(key);
    });
  });

  describe('an exchange that breaks', () => {
    it('is in doubt after a reset [fault 2]', async () => {
      await using server = await serveTcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
      expect(await faultOf(create(), post(server.url))).toMatchObject({
        phase: 'reset',
        sent: 'maybe',
        timedOut: false,
      });
    });

    it('is in doubt when the server hangs up', async () => {
      await using server = await serveTcp((socket) => socket.once('data', () => socket.end()));
      expect(await faultOf(create(), post(server.url))).toMatchObject({ phase: 'reset', sent: 'maybe' });
    });

    it.each([
      { how: 'short of its length', head: 'Content-Length: 100\r\n\r\n{"id":' },
      { how: 'within a chunk', head: 'Transfer-Encoding: chunked\r\n\r\n64\r\n{"id":' },
    ])('is in doubt when the body is cut $how', async ({ head }) => {
      await using server = await serveTcp((socket) =>
        socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${head}`)),
      );
      expect(await faultOf(create(), post(server.url))).toMatchObject({ phase: 'read', sent: 'maybe' });
    });

    it('is in doubt when the answer is no HTTP', async () => {
      await using server = await serveTcp((socket) =>
        socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n\r\n')),
      );
      expect(await faultOf(create(), post(server.url))).toMatchObject({ phase: 'response', sent: 'maybe' });
    });
  });

  describe('a hang, phase by phase', () => {
    it('in the look-up [fault 9]', async () => {
      const transport = create({ lookup: () => undefined });
      const fault = await faultOf(transport, post('http://slow.example/', {}, { lookupMs: 50 }));
      expect(fault).toMatchObject({ phase: 'lookup', sent: 'no', timedOut: true, systemCode: 'ETIMEDOUT' });
      expect(fault.message).toContain('timed out (lookup)');
    });

    it('in connecting [fault 9]', async () => {
      await using deaf = await openDeafPort();
      const request = post(`http://127.0.0.1:${deaf.port}/`, {}, { connectMs: 50, lookupMs: 50 });
      expect(await faultOf(create(), request)).toMatchObject({
        sent: 'no',
        timedOut: true,
        phase: 'connect',
      });
    });

    it('in setting up TLS [fault 9]', async () => {
      await using server = await serveTcp(() => undefined, 'https');
      const fault = await faultOf(create(), post(server.url, {}, { secureConnectMs: 50 }));
      expect(fault).toMatchObject({ phase: 'secure-connect', sent: 'no', timedOut: true });
    });

    it('in sending [fault 9]', async () => {
      await using server = await serveTcp((socket) => socket.pause());
      const large = { body: JSON.stringify({ input: 'x'.repeat(20_000_000) }) };
      const fault = await faultOf(create(), post(server.url, large, { sendMs: 50, responseMs: 50 }));
      // undici does not tell when a body has been sent.
      expect(fault).toMatchObject({
        phase: name === 'got' ? 'send' : 'response',
        sent: 'maybe',
        timedOut: true,
      });
    });

    it('answers no request that is not written yet: a reply of that time may be any [fault 12b]', async () => {
      const reply = (status: number) =>
        serveTcp((socket) => {
          socket.pause();
          socket.write(`HTTP/1.1 ${status} OK\r\nContent-Length: 12\r\n\r\n{"id":"j-1"}`);
        });
      const large = { body: JSON.stringify({ input: 'x'.repeat(20_000_000) }) };
      await using accepting = await reply(200);
      const fault = await faultOf(create(), post(accepting.url, large));
      expect(fault).toMatchObject({ sent: 'maybe', timedOut: false });
      await using refusing = await reply(413);
      expect(await firstValueFrom(create()(post(refusing.url, large)))).toMatchObject({ status: 413 });
    });

    it('before the reply [fault 9]', async () => {
      await using server = await serveTcp(() => undefined);
      const fault = await faultOf(create(), post(server.url, {}, { responseMs: 50 }));
      expect(fault).toMatchObject({ phase: 'response', sent: 'maybe', timedOut: true });
    });

    it('in a head that drips [fault 9]', async () => {
      await using server = await serveTcp((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX-Drip: '));
      const fault = await faultOf(create(), get(server.url, {}, { responseMs: 100 }));
      expect(fault).toMatchObject({ phase: 'response', sent: 'maybe', timedOut: true });
    });

    it('in a body that drips [fault 9]', async () => {
      await using server = await serveTcp((socket) =>
        drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n'),
      );
      const fault = await faultOf(create(), get(server.url, {}, { readMs: 100 }));
      expect(fault).toMatchObject({ phase: 'read', sent: 'maybe', timedOut: true });
    });

    it('in a body that stalls, and not in one that comes slowly', async () => {
      await using stalled = await serveTcp((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{"a":'),
      );
      const fault = await faultOf(create(), get(stalled.url, {}, { idleMs: 100 }));
      expect(fault).toMatchObject({ phase: 'read', sent: 'maybe', timedOut: true });

      await using slow = await serveHttp((_request, response) => {
        const text = JSON.stringify({ slow: true });
        Array.from(text).forEach((part, index) => setTimeout(() => response.write(part), 100 * (index + 1)));
        setTimeout(() => response.end(), 100 * (text.length + 1));
      });
      const reply = await firstValueFrom(create()(get(slow.url, {}, { idleMs: 800 })));
      expect(reply.body).toBe('{"slow":true}');
    });

    it('of the whole, within the body', async () => {
      await using server = await serveTcp((socket) =>
        drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n'),
      );
      const fault = await faultOf(create(), get(server.url, {}, { requestMs: 200 }));
      expect(fault).toMatchObject({ phase: 'read', sent: 'maybe', timedOut: true });
    });

    it('of the whole, before the reply', async () => {
      await using server = await serveTcp(() => undefined);
      const fault = await faultOf(create(), post(server.url, {}, { requestMs: 50 }));
      expect(fault).toMatchObject({ phase: 'response', sent: 'maybe', timedOut: true });
    });

    it('is not seen where a limit is beyond what a timer can keep [fault 21]', async () => {
      await using server = await serveHttp((_request, response) => setImmediate(() => response.end('{}')));
      const month = 31 * 24 * 3_600_000;
      const limits = {
        lookupMs: month,
        connectMs: month,
        secureConnectMs: month,
        sendMs: month,
        readMs: month,
      };
      const request = get(server.url, {}, { ...limits, responseMs: month, requestMs: month });
      expect((await firstValueFrom(create()(request))).status).toBe(200);
    });
  });

  describe('unsubscribing', () => {
    it('aborts what is on the wire, and says nothing', async () => {
      const events: unknown[] = [];
      let arrived: () => void = () => undefined;
      const arrival = new Promise<void>((resolve) => (arrived = resolve));
      await using server = await serveHttp(() => arrived());
      const closed = server.connectionClosed();
      const record = (event: unknown): void => void events.push(event);
      const subscription = create()(get(server.url)).subscribe({
        next: record,
        error: record,
        complete: () => record('complete'),
      });
      await arrival;
      subscription.unsubscribe();
      await closed;
      expect(events).toEqual([]);
    });

    it('at once sends nothing', async () => {
      let requests = 0;
      await using server = await serveHttp((_request, response) => {
        requests++;
        response.end('{}');
      });
      const transport = create();
      transport(get(`${server.url}/dropped`))
        .subscribe()
        .unsubscribe();
      await firstValueFrom(transport(get(`${server.url}/kept`)));
      expect(requests).toBe(1);
    });
  });

  describe('a connection between two requests', () => {
    it('rests for 100 ms, and carries the next request then', async () => {
      await using server = await serveHttp((_request, response) => response.end('{}'));
      let nowMs = 0;
      const transport = create({ now: () => nowMs });
      for (let i = 0; i < 5; i++) {
        await firstValueFrom(transport(get(server.url)));
        nowMs += 100;
      }
      expect(server.connections()).toBe(1);
      await firstValueFrom(transport(get(server.url)));
      nowMs += 99;
      await firstValueFrom(transport(get(server.url)));
      expect(server.connections()).toBe(2);
    });

    it('is used early where very many rest', async () => {
      await using server = await serveHttp((_request, response) => response.end('{}'));
      const transport = create({ now: () => 0 });
      for (let i = 0; i < 140; i++) await firstValueFrom(transport(get(server.url)));
      expect(server.connections()).toBe(128);
    });

    it.each([
      { idleMs: 2_999, paid: true, connections: 1 },
      { idleMs: 3_001, paid: true, connections: 2 },
      { idleMs: 60_000, paid: false, connections: 1 },
    ])(
      'of $idleMs ms: a request that is paid ($paid) makes $connections in all [fault 14a]',
      async ({ idleMs, paid, connections }) => {
        await using server = await serveHttp((_request, response) => response.end('{}'));
        let nowMs = 0;
        const transport = create({ now: () => nowMs });
        await firstValueFrom(transport(get(server.url)));
        nowMs += idleMs;
        await firstValueFrom(transport({ ...post(server.url), paid }));
        expect(server.connections()).toBe(connections);
      },
    );

    it.each([
      { idleMs: 1_999, connections: 1 },
      { idleMs: 2_001, connections: 2 },
    ])(
      'of $idleMs ms that the server says it closes after 3 s: $connections in all',
      async ({ idleMs, connections }) => {
        await using server = await serveHttp((_request, response) => {
          response.writeHead(200, { 'Keep-Alive': 'timeout=3' }).end('{}');
        });
        let nowMs = 0;
        const transport = create({ now: () => nowMs });
        await firstValueFrom(transport(post(server.url)));
        nowMs += idleMs;
        await firstValueFrom(transport(post(server.url)));
        expect(server.connections()).toBe(connections);
      },
    );

    it('that is fresh is taken by a paid request although an older one lies beside it', async () => {
      const held: (() => void)[] = [];
      await using server = await serveHttp((request, response) => {
        if (request.url === '/hold') held.push(() => response.end('{}'));
        else response.end('{}');
      });
      let nowMs = 0;
      const transport = create({ now: () => nowMs });
      const first = firstValueFrom(transport(get(`${server.url}/hold`)));
      await firstValueFrom(transport(get(`${server.url}/at-once`)));
      nowMs = 4_000;
      await expect.poll(() => held.length).toBe(1);
      held.forEach((release) => release());
      await first;
      nowMs += 100;
      await firstValueFrom(transport(post(server.url)));
      nowMs += 100;
      await firstValueFrom(transport(post(server.url)));
      expect(server.connections()).toBe(2);
    });
  });

  it('keeps the key out of every error, in whatever way it is looked at [fault 31]', async () => {
    await using resetting = await serveTcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await using echoing = await serveTcp((socket) =>
      socket.once('data', (data) => socket.end(`HTTP/1.1 ${String(data)}`)),
    );
    await using silent = await serveTcp(() => undefined);
    await using insecure = await serveHttps((_request, response) => response.end(), {
      key: serverKey,
      cert: selfSigned,
    });
    const requests = [
      post(resetting.url),
      post(echoing.url),
      post(silent.url, {}, { responseMs: 50 }),
      post(insecure.url),
      post(`http://127.0.0.1:${await closedPort()}/?token=${key}`),
    ];
    for (const request of requests) {
      const fault = await faultOf(create(), request);
      const views = [
        inspect(fault, { depth: 20, showHidden: true }),
        JSON.stringify(fault),
        fault.stack,
        String(fault),
      ];
      expect(views.join('\n')).not.toContain(key);
      expect(fault.cause).toBeUndefined();
    }
  });
});

/** One byte every few milliseconds, for ever. */
function drip(socket: { write(text: string): boolean; destroyed: boolean }, head: string): void {
  socket.write(head);
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('x')), 10);
}
