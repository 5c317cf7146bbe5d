import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openImagesFolder } from '../../../../runners/batch/artifacts/artifact-name.js';
import { saveArtifact } from '../../../../runners/batch/artifacts/save-artifact.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { onePixel } from '../../../support/other-server.js';

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-pictures-'));
  await openImagesFolder(nodeDisk, folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const place = (id: string) => ({ disk: nodeDisk, folder, id, collides: false });
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(40, 1)]);

function save(id: string, ...chunks: Uint8Array[]) {
  return saveArtifact(async (part) => {
    for (const chunk of chunks) await part.write(chunk);
  }, place(id));
}

describe('saveArtifact', () => {
  it('saves piece by piece, and says what it saved', async () => {
    const file = await save('a', onePixel.subarray(0, 5), onePixel.subarray(5));
    const sha256 = createHash('sha256').update(onePixel).digest('hex');
    expect(file).toEqual({ path: 'images/a.png', bytes: 70, sha256, format: 'png' });
    expect(readFileSync(join(folder, file.path))).toEqual(onePixel);
    expect(readdirSync(join(folder, 'images'))).toEqual(['a.png']);
  });

  it('lets the bytes decide the ending', async () => {
    expect((await save('a', jpeg)).path).toBe('images/a.jpeg');
  });

  it('keeps what lies there already, unless it is the same', async () => {
    writeFileSync(join(folder, 'images/a.png'), 'mine');
    const { path } = await save('a', onePixel);
    expect(path).toMatch(/^images\/a~[0-9a-f]{10}\.png$/);
    expect((await save('a', onePixel)).path).toBe(path);
    expect(readFileSync(join(folder, 'images/a.png'), 'utf8')).toBe('mine');
    await save('b', onePixel);
    expect((await save('b', onePixel)).path).toBe('images/b.png');
  });

  it('writes through no link [fault 28]', async () => {
    const outside = join(folder, 'outside');
    writeFileSync(outside, 'untouched');
    symlinkSync(outside, join(folder, 'images/a.png'));
    await save('a', onePixel);
    expect(readFileSync(outside, 'utf8')).toBe('untouched');
  });

  it.each([
    ['nothing', [], /no bytes/],
    ['a page', [Buffer.from('<!doctype html><p>sorry</p>')], /no picture, they begin with "<!doctype html>/],
  ])('refuses %s, and leaves nothing behind', async (_what, chunks, message) => {
    await expect(save('a', ...chunks)).rejects.toMatchObject({
      code: 'picture',
      isNoPicture: true,
      message: expect.stringMatching(message) as string,
    });
    expect(readdirSync(join(folder, 'images'))).toEqual([]);
  });

  it('says of the disk which file it was, and leaves nothing behind', async () => {
    const disk = new ForgetfulDisk({ faults: [{ code: 'ENOSPC', call: 'write', path: '.part' }] });
    await openImagesFolder(disk, '/out');
    const saving = saveArtifact((part) => part.write(onePixel), {
      disk,
      folder: '/out',
      id: 'a',
      collides: false,
    });
    await expect(saving).rejects.toMatchObject({ code: 'disk', errno: 'ENOSPC' });
    expect(disk.paths()).toEqual([]);
  });

  it('syncs before it renames, and the folder after [fault 28]', async () => {
    const disk = new ForgetfulDisk();
    await openImagesFolder(disk, '/out');
    await saveArtifact((part) => part.write(onePixel), { disk, folder: '/out', id: 'a', collides: false });
    const later = disk.restart({ random: () => 0 });
    expect(later.peek('/out/images/a.png')).toEqual(onePixel);
  });
});

describe('openImagesFolder', () => {
  it('refuses a link in its place', async () => {
    rmSync(join(folder, 'images'), { recursive: true });
    symlinkSync(tmpdir(), join(folder, 'images'));
    await expect(openImagesFolder(nodeDisk, folder)).rejects.toMatchObject({
      code: 'disk',
      errno: 'ENOTDIR',
    });
  });
});
