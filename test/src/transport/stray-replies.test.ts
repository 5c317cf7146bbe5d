import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import { phaseTimeouts, type Transport, type WireRequest } from '../../../src/transport/transport.js';
import { createUndiciTransport } from '../../../src/transport/undici/undici-transport.js';
import { authority, otherHost, serverKey, trusted } from '../../support/certificates.js';
import { rawChunks, rawReply, serveRaw, type RawRequest } from '../../support/raw-service.js';
import { seeded } from '../../support/seeded.js';

function post(url: string): WireRequest {
  return { method: 'POST', url, headers: {}, body: '{}', timeouts: phaseTimeouts(10_000), paid: true };
}

function get(url: string): WireRequest {
  return { method: 'GET', url, headers: {}, timeouts: phaseTimeouts(10_000), paid: false };
}

function namedReply({ path }: RawRequest): string {
  return JSON.stringify({ for: path });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Several workers send requests. Returns the replies that belong to another request, by path. */
async function mixedUp(
  transport: Transport,
  base: string,
  { requests, workers }: { requests: number; workers: number },
): Promise<Record<string, string>> {
  const random = seeded(7);
  const wrong: Record<string, string> = {};
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < requests) {
      const path = `/run/${next++}`;
      const request = random() < 0.8 ? post(base + path) : get(base + path);
      const reply = await firstValueFrom(transport(request)).then(
        ({ status, body }) => `${status} ${body}`,
        (error: unknown) => String(error),
      );
      if (reply !== `200 ${JSON.stringify({ for: path })}`) wrong[path] = reply;
      if (random() < 0.3) await pause(random() * 20);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return wrong;
}

const unasked408 = 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

const strays = {
  'the whole reply again': (reply: string) => reply,
  'half of the reply again': (reply: string) => reply.slice(0, reply.length >> 1),
  'the first bytes of a reply': () => 'HTTP/1.1 2',
  'a body without a head': () => '{"for":"nobody"}',
  'an unasked 408': () => unasked408,
};

describe.each([
  { name: 'got', create: createGotTransport },
  { name: 'undici', create: createUndiciTransport },
])('bytes that nobody asked for, over $name', ({ create }) => {
  describe.each(Object.entries(strays))('%s', (_what, stray) => {
    it.each([0, 1, 5, 60])(
      '%i ms after the reply: every request gets its own [fault 12b]',
      async (delayMs) => {
        const random = seeded(delayMs + 1);
        await using server = await serveRaw((request, socket) => {
          const reply = (random() < 0.5 ? rawReply : rawChunks)(namedReply(request));
          const send = (): void => {
            socket.write(reply);
            if (random() < 0.5) sendLater(socket, stray(reply), delayMs);
          };
          if (random() < 0.5) send();
          else setTimeout(send, random() * 15);
        });
        // More than 128 connections do not rest at a time.
        const wrong = await mixedUp(create(), server.url, { requests: 80, workers: 6 });
        expect(wrong).toEqual({});
      },
    );

    it('in one piece with the reply: the connection is not used again [fault 12b]', async () => {
      const random = seeded(3);
      await using server = await serveRaw((request, socket) => {
        const reply = (random() < 0.5 ? rawReply : rawChunks)(namedReply(request));
        socket.write(reply + stray(reply));
      });
      const wrong = await mixedUp(create(), server.url, { requests: 100, workers: 8 });
      expect(wrong).toEqual({});
      expect(server.connections()).toBe(100);
    });
  });

  it('over TLS: every request gets its own', async () => {
    const random = seeded(5);
    await using server = await serveRaw(
      (request, socket) => {
        const reply = rawReply(namedReply(request));
        socket.write(reply);
        if (random() < 0.5) sendLater(socket, reply, random() * 60);
      },
      { key: serverKey, cert: trusted },
    );
    expect(await mixedUp(create({ ca: authority }), server.url, { requests: 80, workers: 16 })).toEqual({});
  });

  it('through a proxy, over TLS: every request gets its own', async () => {
    const random = seeded(6);
    await using server = await serveRaw(
      (request, socket) => {
        const reply = rawReply(namedReply(request));
        socket.write(reply);
        if (random() < 0.5) sendLater(socket, reply, random() * 60);
      },
      { key: serverKey, cert: otherHost },
    );
    await using proxy = await serveProxy(server.port);
    const transport = create({ ca: authority, env: { HTTPS_PROXY: proxy.url } });
    expect(await mixedUp(transport, 'https://elsewhere.example', { requests: 100, workers: 8 })).toEqual({});
  });

  it.each(['before', 'after'])(
    'while this process is busy, just %s the request is made: it goes over another connection',
    async (when) => {
      const service = new Worker(strayAfter150Ms, { eval: true });
      const [port] = (await once(service, 'message')) as [number];
      const transport = create();
      const ask = (path: string) => firstValueFrom(transport(post(`http://127.0.0.1:${port}${path}`)));
      await ask('/first');
      const second = await new Promise((resolve) => {
        setTimeout(() => {
          // From within a read, so that the loop writes what is made here before it reads anything else.
          void stat('.').then(() => {
            if (when === 'before') keepBusy(150);
            resolve(ask('/second'));
            if (when === 'after') keepBusy(150);
          });
        }, 110);
      });
      await service.terminate();
      expect(second).toMatchObject({ body: '/second' });
    },
  );
});

/** On a busy machine it may be too late for that: what comes 100 ms after a reply is beyond what the transport can know. */
function sendLater(socket: Socket, bytes: string, delayMs: number): void {
  const latest = performance.now() + 90;
  setTimeout(() => {
    if (socket.writable && performance.now() < latest) socket.write(bytes);
  }, delayMs);
}

function keepBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** A service in a thread of its own: it repeats its first reply as a stray one 150 ms later. */
const strayAfter150Ms = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  let first = true;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const path = String(data).split(' ', 2)[1];
      if (!path) return;
      const reply = 'HTTP/1.1 200 OK\\r\\nContent-Length: ' + path.length + '\\r\\n\\r\\n' + path;
      setTimeout(() => socket.write(reply), first ? 0 : 100);
      if (first) setTimeout(() => socket.write(reply), 150);
      first = false;
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

async function serveProxy(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => undefined);
    const there = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
