import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createGotDownload } from '../../../src/transport/got/got-download.js';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import { phaseTimeouts, type WireRequest } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import { createUndiciTransport } from '../../../src/transport/undici/undici-transport.js';
import { authority, otherHost, serverKey } from '../../support/certificates.js';
import { closedPort, serveHttp, serveHttps } from '../../support/loopback-server.js';

/** A CONNECT proxy on this machine that leads every name to one port of it. */
async function serveProxy(port: number, refuse?: number) {
  const asked: { target: string; credentials: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    asked.push({ target: url, credentials: headers['proxy-authorization'] });
    socket.on('error', () => undefined);
    if (refuse !== undefined) return socket.end(`HTTP/1.1 ${refuse} No\r\ncontent-length: 0\r\n\r\n`);
    const there = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://user:canary-pass@127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    env: { HTTPS_PROXY: url, http_proxy: url, NO_PROXY: 'spared.example' },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const certificate = { key: serverKey, cert: otherHost };
const credentials = `Basic ${Buffer.from('user:canary-pass').toString('base64')}`;

function request(url: string, more: Partial<WireRequest> = {}): WireRequest {
  const plain = { method: 'POST', url, headers: { authorization: 'Bearer a-key' }, body: '{}' } as const;
  return { ...plain, timeouts: phaseTimeouts(10_000), paid: true, ...more };
}

describe.each([
  { name: 'got', create: createGotTransport },
  { name: 'undici', create: createUndiciTransport },
])('a transport on $name, through a proxy', ({ create }) => {
  it('goes by CONNECT, with the credentials for the proxy alone, and keeps the connection', async () => {
    const seen: unknown[] = [];
    await using server = await serveHttps(({ headers }, response) => {
      seen.push([headers.authorization, headers['proxy-authorization']]);
      response.end('{"ok":1}');
    }, certificate);
    await using proxy = await serveProxy(server.port);
    let nowMs = 0;
    const transport = create({ ca: authority, env: proxy.env, now: () => (nowMs += 1_000) });
    for (let n = 0; n < 2; n++)
      expect(await firstValueFrom(transport(request('https://elsewhere.example/v2/x/run')))).toMatchObject({
        status: 200,
        body: '{"ok":1}',
      });
    expect(proxy.asked).toHaveLength(1);
    for (const asked of proxy.asked) expect(asked).toEqual({ target: 'elsewhere.example:443', credentials });
    expect(seen).toEqual([
      ['Bearer a-key', undefined],
      ['Bearer a-key', undefined],
    ]);
  });

  it('goes there by plain http as well, and to this machine without it', async () => {
    await using server = await serveHttp((_request, response) => response.end('{}'));
    await using proxy = await serveProxy(server.port);
    const transport = create({ env: proxy.env });
    expect(await firstValueFrom(transport(request('http://elsewhere.example/x')))).toMatchObject({
      status: 200,
    });
    expect(await firstValueFrom(transport(request(`${server.url}/x`)))).toMatchObject({ status: 200 });
    expect(proxy.asked.map(({ target }) => target)).toEqual(['elsewhere.example:80']);
  });

  it.each([407, 502])('sent nothing where the proxy answers %i, and tells no credentials', async (status) => {
    await using proxy = await serveProxy(0, status);
    const transport = create({ env: proxy.env });
    const error: unknown = await firstValueFrom(transport(request('https://elsewhere.example/'))).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({
      phase: 'connect',
      sent: 'no',
      message: expect.stringContaining(`HTTP ${status}`),
    });
    expect(inspect(error)).not.toMatch(/canary|user:/);
  });

  it('sent nothing where there is no proxy, nor where TLS fails behind it', async () => {
    await using server = await serveHttps((_request, response) => response.end('{}'), certificate);
    await using proxy = await serveProxy(server.port);
    const gone = create({ env: { HTTPS_PROXY: `http://user:canary-pass@127.0.0.1:${await closedPort()}` } });
    const untrusted = create({ env: proxy.env });
    for (const [transport, phase] of [
      [gone, 'connect'],
      [untrusted, 'tls'],
    ] as const) {
      const error: unknown = await firstValueFrom(transport(request('https://elsewhere.example/'))).catch(
        (e: unknown) => e,
      );
      expect(error).toMatchObject({ phase, sent: 'no' });
      expect(inspect(error)).not.toMatch(/canary/);
    }
  });

  it('cannot tell whether a plain request arrived that breaks behind the tunnel', async () => {
    await using server = await serveHttp((asked) => asked.socket.destroy());
    await using proxy = await serveProxy(server.port);
    const error: unknown = await firstValueFrom(
      create({ env: proxy.env })(request('http://elsewhere.example/')),
    ).catch((e: unknown) => e);
    expect(error).toMatchObject({ sent: 'maybe' });
  });
});

describe('an idle connection through a proxy', () => {
  it.each([
    { to: 'https', idleMs: 2_999, paid: true, tunnels: 1 },
    { to: 'https', idleMs: 3_001, paid: true, tunnels: 2 },
    { to: 'https', idleMs: 60_000, paid: false, tunnels: 1 },
    { to: 'http', idleMs: 2_999, paid: true, tunnels: 1 },
    { to: 'http', idleMs: 3_001, paid: true, tunnels: 2 },
  ])('to $to of $idleMs ms: a request that is paid ($paid) makes $tunnels in all', async (row) => {
    const answer: Parameters<typeof serveHttp>[0] = (_request, response) => response.end('{}');
    await using server = await (row.to === 'https' ? serveHttps(answer, certificate) : serveHttp(answer));
    await using proxy = await serveProxy(server.port);
    let nowMs = 0;
    const transport = createGotTransport({ ca: authority, env: proxy.env, now: () => nowMs });
    const url = `${row.to}://elsewhere.example/x`;
    await firstValueFrom(transport(request(url)));
    nowMs += row.idleMs;
    await firstValueFrom(transport(request(url, { paid: row.paid })));
    expect(proxy.asked).toHaveLength(row.tunnels);
  });
});

describe('a download through a proxy', () => {
  const get = (url: string) => ({ url, timeouts: phaseTimeouts(10_000) });

  it('fetches a file by its name, and nothing that is known to lie in a private network', async () => {
    await using server = await serveHttp(({ url, headers }, response) => {
      if (url === '/picture') return response.end('bytes');
      const target = url === '/address' ? 'http://10.0.0.1/' : `http://inside.example/${headers.host}`;
      return response.writeHead(302, { location: target }).end();
    });
    await using proxy = await serveProxy(server.port);
    const inside = createGotDownload({
      env: proxy.env,
      // What this machine does not know, the proxy may.
      lookup: (name, _options, callback) =>
        name === 'inside.example'
          ? callback(null, '10.0.0.7', 4)
          : callback(Object.assign(new Error('unknown here'), { code: 'ENOTFOUND' }), ''),
    });
    const chunks: string[] = [];
    const take = (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk).toString());
    await firstValueFrom(inside(get('http://elsewhere.example/picture'), take));
    expect(chunks).toEqual(['bytes']);
    for (const path of ['address', 'name'])
      await expect(firstValueFrom(inside(get(`http://elsewhere.example/${path}`), take))).rejects.toThrow(
        'private network',
      );
    for (const host of ['10.0.0.1', 'inside.example'])
      await expect(firstValueFrom(inside(get(`http://${host}/`), take))).rejects.toThrow('private network');
    expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(['elsewhere.example:80']));
  });
});
