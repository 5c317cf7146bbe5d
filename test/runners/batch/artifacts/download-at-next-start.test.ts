import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asapScheduler, defer, NEVER, Subject, type SchedulerAction, type SchedulerLike } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloadArtifact } from '../../../../runners/batch/artifacts/download-artifact.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { clearUnsaved } from '../../../../runners/batch/disk/replace-file.js';
import type { Download } from '../../../../src/transport/got/download.js';
import { createGotDownload } from '../../../../src/transport/got/got-download.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { serveHttp } from '../../../support/loopback-server.js';
import { seeded } from '../../../support/seeded.js';

/** Two versions of one length, that differ in every byte after the head. */
const [one, two] = [version(1), version(2)];
const length = one.length;

function version(seed: number): Buffer {
  const content = Buffer.alloc(3 << 20, seed);
  content.write('\0\0\0\x18ftypisom\0\0\0\0isomiso2', 'latin1');
  return content;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const whole = (bytes: Buffer) => ({
  path: 'files/a.mp4',
  bytes: length,
  sha256: sha256(bytes),
  format: 'mp4',
});

/** Pauses between tries pass at once; the clock of a stall never comes. */
const scheduler: SchedulerLike = {
  now: () => 0,
  schedule: <S>(work: (this: SchedulerAction<S>, state?: S) => void, delay = 0, state?: S) =>
    delay >= 60_000 ? NEVER.subscribe() : asapScheduler.schedule(work, 0, state),
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-files-'));
  mkdirSync(join(folder, 'files'));
});
afterEach(() => rmSync(folder, { recursive: true }));
const left = () => readdirSync(join(folder, 'files'));

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Sends the first two megabytes, and no more until the client goes. */
const hang =
  (bytes: Buffer, headers: object): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': length, ...headers });
    response.write(bytes.subarray(0, 2 << 20));
  };

/** What a host that knows ranges and versions answers. */
const serve =
  (bytes: Buffer, headers: { etag?: string; 'last-modified'?: string }): Answer =>
  (request, response) => {
    const given = request.headers['if-range'];
    const isSame = given === undefined || given === headers.etag || given === headers['last-modified'];
    const from = isSame ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
    const range = `bytes ${from}-${length - 1}/${length}`;
    response.writeHead(from > 0 ? 206 : 200, { ...headers, ...(from > 0 && { 'content-range': range }) });
    response.end(bytes.subarray(from));
  };

/** A start that ends in the middle of the download, then one after it. */
async function twoStarts(first: Answer, second: Answer | readonly Answer[], between = () => {}, query = '') {
  const asked: (string | undefined)[] = [];
  let answers: readonly Answer[] = [first];
  await using server = await serveHttp((request, response) => {
    asked.push(request.headers.range);
    const [answer = first, ...others] = answers;
    if (others.length > 0) answers = others;
    answer(request, response);
  });
  const url = `${server.url}/a.mp4`;
  const stop = new Subject<void>();
  let came = 0;
  const download: Download = (request, onChunk) =>
    createGotDownload({ services: [server.url] })(request, async (chunk, head) => {
      await onChunk(chunk, head);
      came += chunk.length;
      if (came >= 3 << 19 && asked.length === 1) stop.next();
    });
  const start = (address: string) => {
    const place = { disk: nodeDisk, folder, id: 'a', collides: false, file: { nth: 1, url: address } };
    const settings = { download, scheduler, random: () => 0, maxRetries: 2, left$: stop };
    return downloadArtifact(address, place, settings);
  };
  expect(await start(url)).toBeUndefined();
  answers = Array.isArray(second) ? (second as readonly Answer[]) : [second as Answer];
  between();
  const file = await start(`${url}${query}`);
  const bytes = readFileSync(join(folder, file?.path ?? ''));
  expect(sha256(bytes)).toBe(file?.sha256);
  expect(left()).toEqual(['a.mp4']);
  return { file, asked };
}

const etag = '"v1"';
const modified = 'Mon, 01 Jan 2024 00:00:00 GMT';

describe('a download that the end of a start has broken off', () => {
  it.each([
    ['an ETag', { etag }],
    ['a date', { 'last-modified': modified }],
  ])(
    'is gone on with by the next start, where its host names the version by %s [fault 32]',
    async (_by, headers) => {
      const { file, asked } = await twoStarts(hang(one, headers), serve(one, headers));
      expect(file).toEqual(whole(one));
      expect(asked).toHaveLength(2);
      expect(Number(/^bytes=(\d+)-$/.exec(asked[1] ?? '')?.[1])).toBeGreaterThanOrEqual(3 << 19);
    },
  );

  it.each<[string, Answer | readonly Answer[]]>([
    ['sends the other version whole', serve(two, { etag: '"v2"' })],
    [
      'does not know If-Range, and sends the rest of the other version',
      [
        (request, response) => {
          delete request.headers['if-range'];
          serve(two, { etag: '"v2"' })(request, response);
        },
        serve(two, { etag: '"v2"' }),
      ],
    ],
    [
      'sends the rest of a file of another length',
      [
        (request, response) => {
          const from = /\d+/.exec(request.headers.range ?? '')?.[0] ?? '0';
          response.writeHead(206, { etag, 'content-range': `bytes ${from}-9999999/10000000` });
          response.end(two.subarray(Number(from)));
        },
        serve(two, { etag: '"v2"' }),
      ],
    ],
  ])('never joins two versions: its host %s [fault 32]', async (_what, second) => {
    const { file, asked } = await twoStarts(hang(one, { etag }), second);
    expect(file).toEqual(whole(two));
    expect(asked[1]).toMatch(/^bytes=/);
  });

  it.each([
    ['gives the version no name', {}],
    ['gives it a weak one', { etag: 'W/"v1"' }],
    ['takes no ranges', { etag, 'accept-ranges': 'none' }],
  ])('begins anew where its host %s', async (_what, headers) => {
    const { file, asked } = await twoStarts(hang(one, headers), serve(one, { etag }));
    expect(file).toEqual(whole(one));
    expect(asked).toEqual([undefined, undefined]);
  });

  it('begins anew where the row was bought again: its file has another address', async () => {
    const { file, asked } = await twoStarts(hang(one, { etag }), serve(two, { etag }), undefined, '?again');
    expect(file).toEqual(whole(two));
    expect(asked).toEqual([undefined, undefined]);
  });

  const noteOf = () => join(folder, 'files', left().find((name) => name.endsWith('.note')) ?? '');
  it.each<[string, () => void]>([
    ['has no note', () => rmSync(noteOf())],
    ['has a note that is not JSON', () => writeFileSync(noteOf(), '{')],
    [
      'has a note of another file',
      () =>
        writeFileSync(noteOf(), readFileSync(noteOf(), 'utf8').replace(/"part":"[^"]*"/, '"part":"../../x"')),
    ],
    [
      'is shorter than its note says',
      () =>
        writeFileSync(join(folder, 'files', left().find((name) => name.endsWith('.part')) ?? ''), 'short'),
    ],
  ])('begins anew where what was left %s', async (_what, between) => {
    const { file, asked } = await twoStarts(hang(one, { etag }), serve(one, { etag }), between);
    expect(file).toEqual(whole(one));
    expect(asked).toEqual([undefined, undefined]);
  });
});

/** A host in memory, which may end after so many bytes of the file. */
const hostOf =
  (bytes: Buffer, name: string, { to = length, from = [] as number[] } = {}): Download =>
  ({ resume }, onChunk) =>
    defer(async () => {
      const start = resume?.validator === name ? resume.from : 0;
      from.push(start);
      const range = { 'content-range': `bytes ${start}-${length - 1}/${length}` };
      const headers = { etag: name, 'content-length': String(length - start), ...(start > 0 && range) };
      const head = { status: start > 0 ? 206 : 200, headers };
      for (let at = start; at < to; at += 1 << 18)
        await onChunk(bytes.subarray(at, Math.min(at + (1 << 18), to)), head);
      return { ...head, bytes: to - start };
    });

describe('at whatever call the power is cut in the start that goes on', () => {
  const url = 'https://paper.test/a.mp4';
  const get = (disk: ForgetfulDisk, download: Download) =>
    downloadArtifact(
      url,
      { disk, folder: '/out', id: 'a', collides: false, file: { nth: 1, url } },
      { download, scheduler, random: () => 0, maxRetries: 0, left$: NEVER },
    ).catch((error: unknown) => error as Error);

  it.each([
    ['was served the same version', one, '"v1"'],
    ['was served another version', two, '"v2"'],
  ])('and %s, the next one has a whole file of one version [fault 15]', async (_which, bytes, name) => {
    let resumed = 0;
    for (let [crashAt, isOver] = [1, false]; !isOver; crashAt++) {
      const random = seeded(crashAt);
      const first = new ForgetfulDisk({ random });
      await first.mkdir('/out/files');
      await get(first, hostOf(one, '"v1"', { to: 2 << 20 }));
      const second = first.restart({ random, crashAt });
      isOver = !((await get(second, hostOf(bytes, name))) instanceof Error);
      const third = second.restart({ random });
      await clearUnsaved(third, '/out');
      const from: number[] = [];
      const file = await get(third, hostOf(one, '"v1"', { from }));
      expect(file).toMatchObject({ bytes: length, sha256: sha256(one) });
      expect(third.peek(`/out/${(file as { path: string }).path}`)?.equals(one)).toBe(true);
      resumed += Number(from[0] !== 0);
    }
    expect(resumed).toBeGreaterThan(0);
  });
});
