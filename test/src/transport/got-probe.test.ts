import type { IncomingMessage } from 'node:http';
import { firstValueFrom } from 'rxjs';
import { expect, describe, it } from 'vitest';
import { createGotProbe, type Probed } from '../../../src/transport/got/got-probe.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import { closedPort, serveHttp } from '../../support/loopback-server.js';

const probe = (url: string): Promise<Probed> =>
  firstValueFrom(createGotProbe({ services: ['http://127.0.0.1'] })({ url, timeouts: phaseTimeouts(5_000) }));

/** A server that keeps what it was asked. */
async function serve(
  answer: (request: IncomingMessage) => { status: number; headers?: Record<string, string> },
) {
  const asked: IncomingMessage[] = [];
  const server = await serveHttp((request, response) => {
    asked.push(request);
    const { status, headers } = answer(request);
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : 'a body');
  });
  return Object.assign(server, { asked });
}

describe('a probe', () => {
  it('asks for the head alone, without a key or the credentials of the URL', async () => {
    await using server = await serve(() => ({ status: 200, headers: { 'content-type': 'image/png' } }));
    const url = server.url.replace('//', '//user:secret@');
    expect(await probe(`${url}/a.png`)).toEqual({ status: 200, contentType: 'image/png' });
    expect(server.asked.map(({ method }) => method)).toEqual(['HEAD']);
    expect(server.asked[0]!.headers.authorization).toBeUndefined();
  });

  it.each([403, 404, 405, 501])('asks for the first byte where HEAD is answered with %i', async (status) => {
    await using server = await serve(({ method }) => ({ status: method === 'HEAD' ? status : 206 }));
    expect(await probe(server.url)).toEqual({ status: 206 });
    expect(server.asked.map(({ method, headers }) => [method, headers.range])).toEqual([
      ['HEAD', undefined],
      ['GET', 'bytes=0-0'],
    ]);
  });

  it('tells what is not there, and does not press a host that has had enough', async () => {
    await using gone = await serve(() => ({ status: 404 }));
    expect((await probe(gone.url)).status).toBe(404);
    await using busy = await serve(() => ({ status: 429 }));
    expect((await probe(busy.url)).status).toBe(429);
    expect(busy.asked).toHaveLength(1);
  });

  it('follows redirects, but not for ever', async () => {
    await using server = await serve(({ url }) =>
      url === '/a' ? { status: 302, headers: { location: '/b' } } : { status: 200 },
    );
    expect((await probe(`${server.url}/a`)).status).toBe(200);
    await using round = await serve(() => ({ status: 302, headers: { location: '/' } }));
    await expect(probe(round.url)).rejects.toThrow('more than 3 redirects');
  });

  it('errors where nobody listens', async () => {
    await expect(probe(`http://127.0.0.1:${await closedPort()}/`)).rejects.toThrow('ECONNREFUSED');
  });
});
