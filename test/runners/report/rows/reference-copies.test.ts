import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Observable, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { maxThumbnailBytes } from '../../../../runners/batch/artifacts/write-thumbnail.js';
import { ReferenceCopies } from '../../../../runners/report/rows/reference-copies.js';
import { RunPictures } from '../../../../runners/report/rows/run-pictures.js';
import type { Download } from '../../../../src/transport/got/download.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import { drawPicture } from '../../../support/draw-picture.js';
import { serveHttp } from '../../../support/loopback-server.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-copies-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The web: the bytes at each address; anything else is not there. */
function webOf(pages: Record<string, Uint8Array>): { download: Download; asked: string[] } {
  const asked: string[] = [];
  const download: Download = ({ url }, onChunk) =>
    new Observable((subscriber) => {
      asked.push(url);
      const bytes = pages[url];
      if (bytes !== undefined) void onChunk(bytes);
      subscriber.next({ status: bytes === undefined ? 404 : 200, headers: {}, bytes: bytes?.length ?? 0 });
      subscriber.complete();
    });
  return { download, asked };
}

async function picturesWith(copies: ReferenceCopies | undefined): Promise<RunPictures> {
  return RunPictures.open({
    disk: nodeDisk,
    folder,
    manifestFolders: [],
    mayMake: 0,
    ...(copies && { saveCopy: (url, target) => copies.save(url, target) }),
  });
}

describe('a reference on the web', () => {
  const url = 'https://pictures.example.test/mug.png?signature=secret';

  it('is asked for once, kept as a small copy, and shown by it from then on', async () => {
    const picture = await drawPicture({ subject: 0, width: 1600, height: 1200 });
    const { download, asked } = webOf({ [url]: picture });
    const copies = await ReferenceCopies.open(nodeDisk, folder, { download });
    const shown = await (await picturesWith(copies)).reference(url);
    expect(shown).toEqual({
      name: url,
      url,
      thumb: expect.stringMatching(/^thumbnails\/reference-[0-9a-f]{16}\.webp$/) as string,
    });
    expect((await stat(join(folder, shown.thumb!))).size).toBeLessThanOrEqual(maxThumbnailBytes);
    expect(await (await picturesWith(copies)).reference(url)).toEqual(shown);
    expect(await (await picturesWith(undefined)).reference(url)).toEqual(shown);
    expect(asked).toEqual([url]);
    expect(copies).toMatchObject({ saved: 1, failed: 0 });
  });

  it('stays a link where it cannot be had, and the reason names no query', async () => {
    const { download } = webOf({ 'https://a.test/page': Buffer.from('<html>') });
    const copies = await ReferenceCopies.open(nodeDisk, folder, { download });
    const pictures = await picturesWith(copies);
    expect(await pictures.reference(url)).toEqual({ name: url, url });
    expect(await pictures.reference('https://a.test/page')).not.toHaveProperty('thumb');
    expect(copies).toMatchObject({ saved: 0, failed: 2 });
    expect(copies.reasons).toEqual([
      'pictures.example.test: HTTP 404',
      'a.test: no picture that can be read',
    ]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is not asked for any more after its host was away three times', async () => {
    let asked = 0;
    const download: Download = () =>
      new Observable((subscriber) => {
        asked++;
        subscriber.error(new TransportError('response', 'ETIMEDOUT', 'maybe', true, 'GET x: timed out'));
      });
    const copies = await ReferenceCopies.open(nodeDisk, folder, { download });
    for (let count = 0; count < 10; count++)
      expect(await copies.save(`https://away.test/${count}`, join(folder, `${count}`))).toBe(false);
    expect(asked).toBe(3);
    expect(copies.failed).toBe(10);
    expect(copies.reasons).toEqual(['away.test: timed out', 'away.test: did not answer before']);
  });

  it('is cut off where it is large', async () => {
    let cap: number | undefined;
    const download: Download = ({ maxBytes }) => {
      cap = maxBytes;
      return of({ status: 200, headers: {}, bytes: 0 });
    };
    const copies = await ReferenceCopies.open(nodeDisk, folder, { download });
    await copies.save('https://a.test/large.png', join(folder, 'x'));
    expect(cap).toBe(32 * 2 ** 20);
  });

  it('is not fetched from this machine for a service that is elsewhere', async () => {
    let asked = 0;
    await using server = await serveHttp((_request, response) => {
      asked++;
      response.end();
    });
    const start = { n: 1, k: 'start', at: 1, identity: { baseUrl: 'https://203.0.113.7', lbBaseUrl: '' } };
    await writeFile(join(folder, 'journal.jsonl'), `${JSON.stringify(start)}\n`);
    const copies = await ReferenceCopies.open(nodeDisk, folder);
    expect(await copies.save(`${server.url}/mug.png`, join(folder, 'x'))).toBe(false);
    expect(copies.reasons[0]).toContain('private network');
    expect(asked).toBe(0);
  });
});
