import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openS3Store } from '../../../../runners/batch/uploads/open-s3-store.js';
import { createKeepAliveAgents } from '../../../../src/transport/connections/keep-alive-agents.js';
import { selfSigned, serverKey } from '../../../support/certificates.js';
import { serveHttp, serveTcp, type LoopbackServer } from '../../../support/loopback-server.js';
import { serveRaw, type RawRequest } from '../../../support/raw-service.js';
import { until } from '../../../support/until.js';

type Answer = (request: RawRequest, socket: Socket) => void;

const gone = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';
const taken = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const bytes = Buffer.alloc(1_000, 7);

describe('a store', () => {
  let server: LoopbackServer;
  const requests: string[] = [];
  afterEach(async () => {
    requests.length = 0;
    await server[Symbol.asyncDispose]();
  });

  const storeAt = (endpoint: string) => {
    const env = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    const agents = createKeepAliveAgents({ env: {} });
    return openS3Store({ bucket: 'b', endpoint, env, agents, tryMs: 150, callMs: 1_500 });
  };

  async function open(answer: Answer, certificate?: { key: string; cert: string }) {
    server = await serveRaw((request, socket) => {
      requests.push(request.method);
      answer(request, socket);
    }, certificate);
    return storeAt(server.url);
  }

  /** Nothing comes any more, and the connection stays. */
  const stall: Answer = () => undefined;
  const drip: Answer = (_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n');
    const drops = setInterval(() => socket.write(' '), 50);
    socket.on('close', () => clearInterval(drops)).on('error', () => undefined);
  };

  it('that is closed gives up what stalls, and sends nothing more', async () => {
    const store = await open(stall);
    const given = store.add('k', bytes, 'image/png').catch((error: unknown) => error);
    await until(() => requests.length > 0);
    store.close?.();
    expect(await given).toMatchObject({ why: 'unreachable' });
    await expect(store.has('k')).rejects.toMatchObject({ why: 'unreachable' });
    expect(requests).toEqual(['PUT']);
  });

  it('names the pictures of many rows at once, without a warning of Node', async () => {
    const store = await open(stall);
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    await Promise.all(Array.from({ length: 30 }, (_, n) => store.addressOf(`k${n}`, 60_000)));
    await setImmediate();
    process.off('warning', note);
    expect(warnings.map(({ name }) => name)).not.toContain('MaxListenersExceededWarning');
  });

  it.each([
    ['stalls before its answer', stall],
    ['stalls in the head of its answer', (_request, socket) => void socket.write('HTTP/1.1 200')],
    ['answers byte by byte', drip],
  ] satisfies [string, Answer][])('that %s is given up in time', async (_what, answer) => {
    const store = await open(answer);
    await expect(store.add('k', bytes, 'image/png')).rejects.toMatchObject({ why: 'unreachable' });
  });

  it('that stalls is given up where it is only asked, too', async () => {
    const store = await open(stall);
    await expect(store.has('k')).rejects.toMatchObject({ why: 'unreachable' });
  });

  it('is asked again over another connection where one stalls', async () => {
    const store = await open(({ index }, socket) => index > 0 && socket.write(taken));
    await store.add('k', bytes, 'image/png');
    expect(requests).toEqual(['PUT', 'PUT']);
  });

  it('may be busy for some seconds', async () => {
    const busy = 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n';
    const store = await open(({ index }, socket) => socket.write(index < 4 ? busy : taken));
    await store.add('k', bytes, 'image/png');
    expect(requests).toHaveLength(5);
  });

  it('may lose an answer', async () => {
    const store = await open(({ index }, socket) =>
      index === 0 ? socket.destroy() : socket.write(index === 1 ? taken : gone),
    );
    await store.add('k', bytes, 'image/png');
    expect(await store.has('other')).toBe(false);
  });

  it('may take a picture slowly, at 16 kB a second', async () => {
    const store = await open((_request, socket) => setTimeout(() => socket.write(taken), 600));
    await store.add('k', Buffer.alloc(16_000), 'image/png');
    expect(requests).toHaveLength(1);
  });

  it('refuses where the bucket is in another region, which it names', async () => {
    const elsewhere =
      'HTTP/1.1 301 Moved Permanently\r\nx-amz-bucket-region: eu-west-1\r\nContent-Length: 0\r\n\r\n';
    const store = await open((_request, socket) => socket.write(elsewhere));
    await expect(store.has('k')).rejects.toMatchObject({
      why: 'refused',
      message: expect.stringContaining('it is in the region eu-west-1: set AWS_REGION'),
    });
  });

  it('is not trusted with a certificate that nobody vouches for', async () => {
    const store = await open(stall, { key: serverKey, cert: selfSigned });
    await expect(store.has('k')).rejects.toMatchObject({ why: 'refused' });
    expect(requests).toEqual([]);
  });

  it('refuses where it speaks no TLS', async () => {
    server = await serveHttp(() => undefined);
    const store = await storeAt(server.url.replace('http:', 'https:'));
    await expect(store.has('k')).rejects.toMatchObject({ why: 'refused' });
  });

  it('is given up in time where the TLS handshake stalls', async () => {
    server = await serveTcp(() => undefined);
    const store = await storeAt(server.url.replace('http:', 'https:'));
    await expect(store.has('k')).rejects.toMatchObject({ why: 'unreachable' });
  });
});
