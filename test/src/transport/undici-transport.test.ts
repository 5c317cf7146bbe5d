import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { phaseTimeouts, type WireRequest } from '../../../src/transport/transport.js';
import { createUndiciTransport } from '../../../src/transport/undici/undici-transport.js';
import { serveHttp } from '../../support/loopback-server.js';

function request(url: string, paid: boolean): WireRequest {
  return { method: paid ? 'POST' : 'GET', url, headers: {}, timeouts: phaseTimeouts(10_000), paid };
}

describe('an idle connection', () => {
  it('is not shared between requests with other limits for connecting', async () => {
    await using server = await serveHttp((_request, response) => response.end('{}'));
    const transport = createUndiciTransport();
    const hasty = { ...request(server.url, false), timeouts: phaseTimeouts(10_000, { connectMs: 500 }) };
    await firstValueFrom(transport(request(server.url, false)));
    await firstValueFrom(transport(hasty));
    expect(server.connections()).toBe(2);
  });
});

it('refuses what is no proxy before a request is sent, which would be in doubt', () => {
  const env = { HTTP_PROXY: 'socks5://user:canary@127.0.0.1:1080' };
  expect(() => createUndiciTransport({ env })).toThrow(
    'HTTP_PROXY: is not an address of a proxy: write http://host:port',
  );
});
