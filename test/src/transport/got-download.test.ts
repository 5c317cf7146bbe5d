import { gzipSync } from 'node:zlib';
import type { IncomingHttpHeaders } from 'node:http';
import nock from 'nock';
import { firstValueFrom } from 'rxjs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Downloaded, DownloadRequest } from '../../../src/transport/got/download.js';
import { createGotDownload, type GotDownloadOptions } from '../../../src/transport/got/got-download.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import { selfSigned, serverKey } from '../../support/certificates.js';
import { closedPort, serveHttp, serveHttps, serveTcp } from '../../support/loopback-server.js';

function fetching(url: string, more: Partial<DownloadRequest> = {}): DownloadRequest {
  return { url, maxBytes: 1_000_000, timeouts: phaseTimeouts(10_000), ...more };
}

const onThisMachine: GotDownloadOptions = { services: ['http://127.0.0.1'] };

async function save(
  request: DownloadRequest,
  options: GotDownloadOptions = onThisMachine,
): Promise<{ downloaded: Downloaded; bytes: Buffer }> {
  const chunks: Uint8Array[] = [];
  const download = createGotDownload(options)(request, (chunk) => void chunks.push(chunk));
  const downloaded = await firstValueFrom(download);
  return { downloaded, bytes: Buffer.concat(chunks) };
}

async function faultOf(
  request: DownloadRequest,
  options: GotDownloadOptions = onThisMachine,
): Promise<TransportError> {
  const error: unknown = await save(request, options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TransportError);
  return error as TransportError;
}

describe('a download', () => {
  it('hands on all bytes and says how many', async () => {
    const picture = Buffer.alloc(300_000, 'png');
    await using server = await serveHttp((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'image/png' }).end(picture);
    });
    const { downloaded, bytes } = await save(fetching(server.url));
    expect(bytes.equals(picture)).toBe(true);
    expect(downloaded).toMatchObject({
      status: 200,
      bytes: 300_000,
      headers: { 'content-type': 'image/png' },
    });
  });

  it('carries no key, and no credentials of the URL [fault 32]', async () => {
    let headers: IncomingHttpHeaders = {};
    await using server = await serveHttp((request, response) => {
      headers = request.headers;
      response.end('x');
    });
    await save(fetching(server.url.replace('//', '//user:password@')));
    expect(headers.authorization).toBeUndefined();
    expect(headers['accept-encoding']).toBe('identity');
  });

  it('waits for whoever takes the bytes', async () => {
    let inHand = 0;
    let most = 0;
    await using server = await serveHttp((_request, response) => response.end(Buffer.alloc(2_000_000)));
    const download = createGotDownload(onThisMachine)(
      fetching(server.url, { maxBytes: 3_000_000 }),
      async () => {
        most = Math.max(most, ++inHand);
        await new Promise((resolve) => setImmediate(resolve));
        inHand--;
      },
    );
    expect((await firstValueFrom(download)).bytes).toBe(2_000_000);
    expect(most).toBe(1);
  });

  it.each([403, 404, 410, 500])('hands on nothing of HTTP %i', async (status) => {
    await using server = await serveHttp((_request, response) => response.writeHead(status).end('<Error/>'));
    const { downloaded, bytes } = await save(fetching(server.url));
    expect(downloaded).toMatchObject({ status, bytes: 0 });
    expect(bytes).toHaveLength(0);
  });

  it('is decompressed where the server compresses unasked', async () => {
    await using server = await serveHttp((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('picture'));
    });
    expect(String((await save(fetching(server.url))).bytes)).toBe('picture');
  });

  it('errors with what its taker threw', async () => {
    await using server = await serveHttp((_request, response) => response.end('x'));
    const full = Object.assign(new Error('disk full'), { code: 'ENOSPC' });
    const download = createGotDownload(onThisMachine)(fetching(server.url), () => Promise.reject(full));
    await expect(firstValueFrom(download)).rejects.toBe(full);
  });

  it('is ended by unsubscribing', async () => {
    const events: unknown[] = [];
    await using server = await serveHttp((_request, response) => {
      response.write('x');
    });
    const closed = server.connectionClosed();
    const record = (event: unknown): void => {
      events.push(event);
    };
    let subscription = { unsubscribe: (): void => undefined };
    const arrived = new Promise<void>((resolve) => {
      const download = createGotDownload(onThisMachine)(fetching(server.url), () => resolve());
      subscription = download.subscribe({ next: record, error: record, complete: () => record('complete') });
    });
    await arrived;
    subscription.unsubscribe();
    await closed;
    expect(events).toEqual([]);
  });
});

describe('the cap', () => {
  it('lets exactly as many bytes pass', async () => {
    await using server = await serveHttp((_request, response) => response.end(Buffer.alloc(1_000)));
    expect((await save(fetching(server.url, { maxBytes: 1_000 }))).bytes).toHaveLength(1_000);
  });

  it('ends what announces more', async () => {
    await using server = await serveHttp((_request, response) => response.end(Buffer.alloc(1_001)));
    expect(await faultOf(fetching(server.url, { maxBytes: 1_000 }))).toMatchObject({ phase: 'too-large' });
  });

  it('ends what grows past it, and hands on no more than it [fault 12]', async () => {
    let taken = 0;
    await using server = await serveHttp((_request, response) => {
      for (let i = 0; i < 100; i++) response.write(Buffer.alloc(1_000));
      response.end();
    });
    const download = createGotDownload(onThisMachine)(
      fetching(server.url, { maxBytes: 5_000 }),
      (chunk) => void (taken += chunk.length),
    );
    await expect(firstValueFrom(download)).rejects.toMatchObject({ phase: 'too-large' });
    expect(taken).toBeLessThanOrEqual(5_000);
  });

  it('ends a bomb [fault 12]', async () => {
    await using server = await serveHttp((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20_000_000)));
    });
    expect(await faultOf(fetching(server.url))).toMatchObject({ phase: 'too-large' });
  });
});

describe('a redirect', () => {
  it('is followed, without the key, within what is private already', async () => {
    await using server = await serveHttp((request, response) => {
      if (request.url === '/file') response.end('picture');
      else response.writeHead(302, { Location: '/file' }).end();
    });
    expect(String((await save(fetching(server.url))).bytes)).toBe('picture');
  });

  it('is followed three times and no more', async () => {
    let hops = 0;
    await using server = await serveHttp((_request, response) => {
      hops++;
      response.writeHead(307, { Location: `/${hops}` }).end();
    });
    expect((await faultOf(fetching(server.url))).message).toContain('more than 3 redirects');
    expect(hops).toBe(4);
  });

  it.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'http://%'])(
    'to %s is not followed',
    async (location) => {
      await using server = await serveHttp((_request, response) =>
        response.writeHead(302, { Location: location }).end(),
      );
      expect(await faultOf(fetching(server.url))).toMatchObject({ phase: 'read' });
    },
  );

  it('without a place is an answer', async () => {
    await using server = await serveHttp((_request, response) => response.writeHead(302).end());
    expect((await save(fetching(server.url))).downloaded).toMatchObject({ status: 302, bytes: 0 });
  });
});

describe('an address that a service names', () => {
  const found =
    (address: string) => (_host: string, _options: unknown, callback: (...made: unknown[]) => void) =>
      callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);

  async function refused(url: string, options: GotDownloadOptions): Promise<void> {
    const fault = await faultOf(fetching(url), options);
    expect(fault).toMatchObject({ systemCode: 'ERR_PRIVATE_ADDRESS', sent: 'no' });
    expect(fault.message).toContain('private network, and the service is not');
  }

  it.each([
    '127.0.0.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f.1',
    '0.0.0.0',
    '169.254.169.254',
    '10.0.0.1',
    '100.64.0.1',
    '224.0.0.1',
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fc00::1]',
    '[fe80::1]',
    'localhost',
  ])('is refused for %s where the service is on the internet', async (host) => {
    let requests = 0;
    await using inside = await serveHttp((_request, response) => {
      requests++;
      response.end('secret');
    });
    const address = `http://${host}:${inside.port}/latest/meta-data`;
    await refused(address, { services: ['https://8.8.8.8', 'http://[2606:4700::1]/v2'] });
    await refused(address, {});
    expect(requests).toBe(0);
  });

  it('is refused for a name that leads inside, whenever it begins to', async () => {
    await using inside = await serveHttp((_request, response) => response.end('secret'));
    const answers = ['8.8.8.8', '127.0.0.1'];
    const asked: string[] = [];
    const lookup = (host: string, options: unknown, callback: (...made: unknown[]) => void): void => {
      asked.push(host);
      found(host === 'api.example' ? '8.8.8.8' : (answers.at(-1) ?? ''))(host, options, callback);
    };
    await refused(`http://inside.example:${inside.port}/`, {
      lookup: lookup as never,
      services: ['https://api.example'],
    });
    expect(asked).toContain('inside.example');
  });

  it.each([
    { service: 'http://127.0.0.1:8000', address: '127.0.0.1', isFetched: true },
    { service: 'http://localhost:8000', address: '127.0.0.1', isFetched: true },
    { service: 'http://[::1]:8000', address: '127.0.0.1', isFetched: true },
    { service: 'http://lan.example', address: '127.0.0.1', isFetched: false },
    { service: 'http://both.example', address: '127.0.0.1', isFetched: false },
  ])('beside $service: $address is fetched ($isFetched)', async ({ service, address, isFetched }) => {
    await using inside = await serveHttp((_request, response) => response.end('picture'));
    const places: Record<string, string[]> = {
      'lan.example': ['10.0.0.1'],
      'both.example': ['127.0.0.1', '8.8.8.8'],
      localhost: ['127.0.0.1'],
    };
    const lookup = (host: string, _options: unknown, callback: (...made: unknown[]) => void): void =>
      callback(
        null,
        (places[host] ?? []).map((place) => ({ address: place, family: 4 })),
      );
    const url = `http://${address}:${inside.port}/`;
    const options = { lookup: lookup as never, services: [service] };
    if (isFetched) expect(String((await save(fetching(url), options)).bytes)).toBe('picture');
    else await refused(url, options);
  });
});

describe('a redirect from the public internet', () => {
  afterEach(() => {
    nock.cleanAll();
  });
  afterAll(() => {
    nock.restore();
  });

  function redirectTo(location: string): DownloadRequest {
    nock('https://pictures.example').get('/a.png').reply(302, '', { Location: location });
    return fetching('https://pictures.example/a.png');
  }

  it('is followed to another public host', async () => {
    const request = redirectTo('https://cdn.example/b.png');
    nock('https://cdn.example').get('/b.png').reply(200, 'picture');
    expect(String((await save(request)).bytes)).toBe('picture');
  });

  it.each(['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', '169.254.169.254', '[::1]'])(
    'is not followed to %s [fault 32]',
    async (host) => {
      const fault = await faultOf(redirectTo(`http://${host}/latest/meta-data`));
      expect(fault).toMatchObject({ systemCode: 'ERR_PRIVATE_ADDRESS', sent: 'no' });
    },
  );

  it('is not followed to a name that leads inside', async () => {
    let requests = 0;
    await using inside = await serveHttp((_request, response) => {
      requests++;
      response.end('secret');
    });
    const lookup = (_host: string, _options: unknown, callback: (...found: unknown[]) => void): void =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const fault = await faultOf(redirectTo(`http://inside.example:${inside.port}/`), {
      lookup: lookup as never,
    });
    expect(fault).toMatchObject({ systemCode: 'ERR_PRIVATE_ADDRESS', sent: 'no' });
    expect(requests).toBe(0);
  });
});

describe('an error', () => {
  it('names the host that cannot be reached', async () => {
    const port = await closedPort();
    const fault = await faultOf(fetching(`http://127.0.0.1:${port}/a.png?signature=secret`));
    expect(fault).toMatchObject({ phase: 'connect', sent: 'no', systemCode: 'ECONNREFUSED' });
    expect(fault.message).toContain(`GET 127.0.0.1:${port}/a.png`);
    expect(fault.message).not.toContain('signature');
  });

  it('is one for a URL that is none', async () => {
    expect(await faultOf(fetching('nonsense'))).toMatchObject({ phase: 'send', sent: 'no' });
  });

  it('is one for a certificate that cannot be trusted', async () => {
    await using server = await serveHttps((_request, response) => response.end(), {
      key: serverKey,
      cert: selfSigned,
    });
    expect(await faultOf(fetching(server.url))).toMatchObject({ phase: 'tls' });
  });

  it('is one for a file that is cut short [fault 32]', async () => {
    await using server = await serveTcp((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npic')),
    );
    expect(await faultOf(fetching(server.url))).toMatchObject({ phase: 'read' });
  });

  it('is one for a file that stops coming [fault 9]', async () => {
    await using server = await serveHttp((_request, response) => {
      response.write('pic');
    });
    const timeouts = phaseTimeouts(10_000, { readMs: 50 });
    expect(await faultOf(fetching(server.url, { timeouts }))).toMatchObject({
      phase: 'read',
      timedOut: true,
    });
  });

  it.each(['', 'pic'])(
    'is one for a file of which no byte comes after %j, long before its limit',
    async (first) => {
      await using server = await serveHttp((_request, response) => {
        response.flushHeaders();
        if (first !== '') response.write(first);
      });
      const timeouts = phaseTimeouts(10_000, { idleMs: 50, readMs: 1_000_000 });
      const fault = await faultOf(fetching(server.url, { timeouts }));
      expect(fault).toMatchObject({ phase: 'read', timedOut: true, sent: 'maybe' });
      expect(fault.message).toBe(`GET 127.0.0.1:${server.port}/: no byte came for 0.05 s`);
    },
  );

  it('is none for a file that comes slowly', async () => {
    await using server = await serveHttp((_request, response) => {
      let left = 4;
      const beat = setInterval(() => {
        if (left-- > 0) response.write('x');
        else response.end(() => clearInterval(beat));
      }, 250);
    });
    const timeouts = phaseTimeouts(10_000, { idleMs: 1_000 });
    expect(String((await save(fetching(server.url, { timeouts }))).bytes)).toBe('xxxx');
  });
});
