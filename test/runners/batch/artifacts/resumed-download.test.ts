import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asapScheduler, NEVER, type SchedulerAction, type SchedulerLike } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloadArtifact } from '../../../../runners/batch/artifacts/download-artifact.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { createGotDownload } from '../../../../src/transport/got/got-download.js';
import { serveHttp } from '../../../support/loopback-server.js';

const whole = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomiso2', 'latin1'), noise(3 << 20)]);
const etag = '"v1"';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-files-'));
  mkdirSync(join(folder, 'files'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function noise(bytes: number): Buffer {
  const content = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 4) content.writeUInt32LE(Math.imul(at + 1, 0x9e3779b1) >>> 0, at);
  return content;
}

/** Pauses between tries pass at once; the clock of a stall never comes. */
const scheduler: SchedulerLike = {
  now: () => 0,
  schedule: <S>(work: (this: SchedulerAction<S>, state?: S) => void, delay = 0, state?: S) =>
    delay >= 60_000 ? NEVER.subscribe() : asapScheduler.schedule(work, 0, state),
};

/** What the host does with the n-th request, from 1. */
type Answers = (nth: number, request: IncomingMessage, response: ServerResponse) => void;

async function fetchFrom(answers: Answers, maxRetries = 4) {
  const asked: (string | undefined)[] = [];
  await using server = await serveHttp((request, response) => {
    asked.push(request.headers.range);
    answers(asked.length, request, response);
  });
  const download = createGotDownload({ services: [server.url] });
  const url = `${server.url}/a.mp4?signature=secret`;
  const place = { disk: nodeDisk, folder, id: 'a', collides: false, file: { nth: 1, url } };
  const settings = { download, scheduler, random: () => 0, maxRetries, left$: NEVER };
  const result = await downloadArtifact(url, place, settings).then(
    (file) => ({ file, problem: undefined }),
    (error: unknown) => ({ file: undefined, problem: (error as Error).message.replace(server.url, '') }),
  );
  return { ...result, asked };
}

/** Says how long it is, sends a part, and breaks the connection. */
function breakAfter(response: ServerResponse, bytes: number, headers: object = { etag }): void {
  response.writeHead(200, { 'content-length': whole.length, ...headers });
  response.write(whole.subarray(0, bytes), () => setImmediate(() => response.destroy()));
}

/** What a host that knows ranges answers. */
function serveRange(request: IncomingMessage, response: ServerResponse, headers: object = { etag }): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const range = `bytes ${from}-${whole.length - 1}/${whole.length}`;
  response.writeHead(from > 0 ? 206 : 200, { ...headers, ...(from > 0 && { 'content-range': range }) });
  response.end(whole.subarray(from));
}

const sha256 = createHash('sha256').update(whole).digest('hex');
const isWhole = { path: 'files/a.mp4', bytes: whole.length, sha256, format: 'mp4' };
const nothingLeft = () => expect(readdirSync(join(folder, 'files'))).toEqual([]);

describe('a large file over a connection that breaks', () => {
  it('goes on from where it broke, as often as it does, by Range and If-Range [fault 32]', async () => {
    const validators: (string | undefined)[] = [];
    const { file, asked } = await fetchFrom((nth, request, response) => {
      validators.push(request.headers['if-range'] as string | undefined);
      if (nth === 1) breakAfter(response, 1 << 20);
      else serveRange(request, response);
    });
    expect(file).toEqual(isWhole);
    expect(asked).toHaveLength(2);
    expect(Number(/^bytes=(\d+)-$/.exec(asked[1] ?? '')?.[1])).toBeGreaterThan(0);
    expect(validators).toEqual([undefined, etag]);
    expect(readFileSync(join(folder, 'files/a.mp4')).equals(whole)).toBe(true);
    expect(readdirSync(join(folder, 'files'))).toEqual(['a.mp4']);
  });

  it('does not count a try that brought it a megabyte further', async () => {
    const { file, asked } = await fetchFrom((nth, request, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const to = from + (5 << 18);
      if (to >= whole.length) return serveRange(request, response);
      const range = `bytes ${from}-${whole.length - 1}/${whole.length}`;
      response.writeHead(nth === 1 ? 200 : 206, {
        etag,
        'content-length': whole.length - from,
        ...(nth > 1 && { 'content-range': range }),
      });
      response.write(whole.subarray(from, to), () => setTimeout(() => response.destroy(), 50));
    }, 1);
    expect(file).toEqual(isWhole);
    expect(asked.length).toBeGreaterThan(2);
  });

  it.each([
    ['gives no validator', {}],
    ['gives a weak one', { etag: 'W/"v1"' }],
    ['takes no ranges', { etag, 'accept-ranges': 'none' }],
    ['changed the file a moment ago', { 'last-modified': new Date(Date.now() + 3_600_000).toUTCString() }],
  ])('begins anew at a host that %s', async (_how, headers) => {
    const { file, asked } = await fetchFrom((nth, request, response) =>
      nth === 1 ? breakAfter(response, 1 << 20, headers) : serveRange(request, response, headers),
    );
    expect(file).toEqual(isWhole);
    expect(asked).toEqual([undefined, undefined]);
  });

  it('goes by the date of a file that is older than a second', async () => {
    const headers = { 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' };
    const { file, asked } = await fetchFrom((nth, request, response) =>
      nth === 1 ? breakAfter(response, 1 << 20, headers) : serveRange(request, response, headers),
    );
    expect(file).toEqual(isWhole);
    expect(asked[1]).toMatch(/^bytes=/);
  });

  it('takes the whole file of a host that ignores the range, or whose file has changed', async () => {
    const { file } = await fetchFrom((nth, _request, response) => {
      if (nth === 1) return breakAfter(response, 1 << 20);
      response.writeHead(200, { etag: '"v2"', 'content-length': whole.length });
      response.end(whole);
    });
    expect(file).toEqual(isWhole);
  });

  it.each<[string, Answers]>([
    [
      'another version under 206',
      (_nth, request, response) => serveRange(request, response, { etag: '"v2"' }),
    ],
    [
      'another part',
      (_nth, _request, response) => {
        response.writeHead(206, { etag, 'content-range': `bytes 7-${whole.length - 1}/${whole.length}` });
        response.end(whole.subarray(7));
      },
    ],
    [
      'a file of another length',
      (_nth, request, response) => {
        const from = /\d+/.exec(request.headers.range ?? '')?.[0] ?? '0';
        response.writeHead(206, { etag, 'content-range': `bytes ${from}-9999999/10000000` });
        response.end(whole.subarray(Number(from)));
      },
    ],
    ['that there are no such bytes', (_nth, _request, response) => void response.writeHead(416).end()],
    [
      'a part that says nothing of its place',
      (_nth, _request, response) => void response.writeHead(206, { etag }).end(whole.subarray(9)),
    ],
  ])(
    'never joins two files: a host that sends %s is asked for the whole [fault 32]',
    async (_what, second) => {
      const { file, asked } = await fetchFrom((nth, request, response) => {
        if (nth === 1) breakAfter(response, 1 << 20);
        else if (nth === 2) second(nth, request, response);
        else serveRange(request, response);
      });
      expect(file).toEqual(isWhole);
      expect(asked).toEqual([undefined, expect.stringMatching(/^bytes=/), undefined]);
    },
  );

  it('fails at a host that lies about the length, and leaves nothing behind', async () => {
    const { problem, asked } = await fetchFrom((_nth, request, response) => {
      if (request.headers.range !== undefined) return void response.writeHead(416).end();
      response.writeHead(200, { etag, 'content-length': 5_000 });
      response.write(whole.subarray(0, 3_000), () => setImmediate(() => response.destroy()));
    });
    expect(problem).toMatch(/tries: 5/);
    expect(asked).toHaveLength(5);
    nothingLeft();
  });
});

describe('what is no file', () => {
  it.each<[string, Answers, RegExp]>([
    [
      'a page under 200',
      (_nth, _request, response) => void response.end('<!doctype html><h1>Link expired</h1>'),
      /^GET \/a\.mp4: the bytes are no file of a known format, they begin with "<!doctype html><"$/,
    ],
    [
      'words under 200, whatever the address ends in',
      (_nth, _request, response) => void response.end('Link expired'),
      /no file of a known format/,
    ],
    ['nothing', (_nth, _request, response) => void response.end(), /there are no bytes$/],
    [
      'an expired link',
      (_nth, _request, response) => void response.writeHead(403).end('<Error/>'),
      /HTTP 403$/,
    ],
    [
      'more bytes than a file may have',
      (_nth, _request, response) => {
        response.writeHead(200, { 'content-length': 9 * 2 ** 30 });
        response.write(whole);
      },
      /8589934592 bytes/,
    ],
  ])(
    '%s is refused at once, with the reason and without the query [fault 32]',
    async (_what, answers, message) => {
      const { problem, asked } = await fetchFrom(answers);
      expect(problem).toMatch(message);
      expect(problem).not.toContain('secret');
      expect(asked).toHaveLength(1);
      nothingLeft();
    },
  );
});
