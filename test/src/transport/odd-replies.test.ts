import { gzipSync } from 'node:zlib';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import { phaseTimeouts, type WireRequest } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import { createUndiciTransport } from '../../../src/transport/undici/undici-transport.js';
import { serveRaw } from '../../support/raw-service.js';

const job = '{"id":"j"}';
const ok = 'HTTP/1.1 200 OK\r\n';
const plain = `Content-Length: ${job.length}\r\n\r\n${job}`;
const chunks = `a\r\n${job}\r\n0\r\n`;
const twice = gzipSync(gzipSync(job)).toString('latin1');

const whole = {
  'HTTP/1.0 without a length': `HTTP/1.0 200 OK\r\n\r\n${job}`,
  'early hints before it': `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok}${plain}`,
  trailers: `${ok}Transfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n${chunks}X-A: 1\r\n\r\n`,
  'an extension of a chunk': `${ok}Transfer-Encoding: chunked\r\n\r\na;x=y\r\n${job}\r\n0\r\n\r\n`,
  'two Retry-After': `${ok}Retry-After: 1\r\nRetry-After: 2\r\n${plain}`,
  'an encoding that is none': `${ok}Content-Encoding: identity\r\n${plain}`,
  'more bytes behind its end': `${ok}Connection: close\r\n${plain}and more`,
};

const broken = {
  'two lengths': `${ok}Content-Length: 1\r\n${plain}`,
  'a length and chunks': `${ok}Transfer-Encoding: chunked\r\n${plain}`,
  'a negative length': `${ok}Content-Length: -1\r\n\r\n${job}`,
  'NUL in a header': `${ok}X-A: a\0b\r\n${plain}`,
  'an upgrade': 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  '64 kB of headers': `${ok}X-A: ${'a'.repeat(65_536)}\r\n${plain}`,
  'a chunk without a size': `${ok}Transfer-Encoding: chunked\r\n\r\nxyz\r\n${job}`,
};

describe.each([
  { name: 'got', create: createGotTransport },
  { name: 'undici', create: createUndiciTransport },
])('an odd reply to a paid request, over $name', ({ create }) => {
  async function ask(bytes: string): Promise<unknown> {
    await using server = await serveRaw((_request, socket) => socket.end(bytes, 'latin1'));
    const timeouts = phaseTimeouts(5_000);
    const request: WireRequest = {
      method: 'POST',
      url: server.url,
      headers: {},
      body: '{}',
      timeouts,
      paid: true,
    };
    return await firstValueFrom(create()(request)).catch((error: unknown) => error);
  }

  it.each(Object.entries(whole))('is taken with %s', async (_what, bytes) => {
    expect(await ask(bytes)).toMatchObject({ status: 200, body: job });
  });

  it.each(Object.entries(broken))('is in doubt with %s', async (_what, bytes) => {
    const fault = await ask(bytes);
    expect(fault).toBeInstanceOf(TransportError);
    expect(fault).toMatchObject({ sent: 'maybe', timedOut: false });
  });

  it('is no JSON where it was compressed twice', async () => {
    const reply = await ask(
      `${ok}Content-Encoding: gzip, gzip\r\nContent-Length: ${twice.length}\r\n\r\n${twice}`,
    );
    expect(reply).toMatchObject({ status: 200, body: expect.not.stringContaining('id') as unknown });
  });
});
