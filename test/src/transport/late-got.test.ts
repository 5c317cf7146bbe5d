import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { firstValueFrom, forkJoin } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lateGotDownload, lateGotTransport } from '../../../src/transport/got/late-got.js';
import { phaseTimeouts, type WireRequest } from '../../../src/transport/transport.js';

const timeouts = phaseTimeouts(5_000);
let server: Server;
let asked: string[];
let url: string;
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(`answer to ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const request = (path: string): WireRequest => ({
  method: 'POST',
  url: `${url}${path}`,
  headers: {},
  body: '{}',
  paid: true,
  timeouts,
});

describe('lateGotTransport', () => {
  it('answers requests that come before it is loaded, each once', async () => {
    const transport = lateGotTransport();
    const replies = await firstValueFrom(forkJoin(['/a', '/b'].map((path) => transport(request(path)))));
    expect(replies.map(({ body }) => body)).toEqual(['answer to /a', 'answer to /b']);
    expect(asked.toSorted()).toEqual(['/a', '/b']);
    transport.close?.();
  });

  it('sends at once when it is loaded', async () => {
    const transport = lateGotTransport();
    await transport.load();
    expect((await firstValueFrom(transport(request('/a')))).body).toBe('answer to /a');
    transport.close?.();
  });

  it('sends nothing for a subscriber that has left before it is loaded', async () => {
    const transport = lateGotTransport();
    transport(request('/a')).subscribe().unsubscribe();
    await transport.load();
    await firstValueFrom(transport(request('/b')));
    expect(asked).toEqual(['/b']);
    transport.close?.();
  });
});

describe('lateGotDownload', () => {
  it('fetches a file, and keeps to the places of its services', async () => {
    const chunks: string[] = [];
    const take = (bytes: Uint8Array) => void chunks.push(Buffer.from(bytes).toString());
    const fetched = lateGotDownload({ services: [url] })({ url: `${url}/file`, timeouts }, take);
    expect(await firstValueFrom(fetched)).toMatchObject({ status: 200 });
    expect(chunks.join('')).toBe('answer to /file');
    await expect(
      firstValueFrom(lateGotDownload({})({ url: `${url}/file`, timeouts }, take)),
    ).rejects.toThrow();
    expect(asked).toEqual(['/file']);
  });
});
