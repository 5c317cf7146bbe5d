import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { RunPictures } from '../../../../runners/report/rows/run-pictures.js';
import { drawPicture } from '../../../support/draw-picture.js';
import { reportFolder } from '../../../support/report-folder.js';

const sha256 = 'ab'.repeat(32);

async function shelfWith(mayMake: number): Promise<{ shelf: RunPictures; folder: string; parent: string }> {
  const parent = await reportFolder();
  const folder = join(parent, 'edits.out');
  await mkdir(join(folder, 'images'), { recursive: true });
  const picture = await drawPicture({ subject: 0, width: 400, height: 300 });
  await writeFile(join(folder, 'images', 'a #1.png'), picture);
  await writeFile(join(parent, 'photo.png'), picture);
  return {
    shelf: await RunPictures.open({
      disk: nodeDisk,
      folder,
      manifestFolders: ['/nowhere', parent],
      mayMake,
    }),
    folder,
    parent,
  };
}

describe('a picture of a result', () => {
  it('gets the thumbnail that is missing, once', async () => {
    const { shelf, folder } = await shelfWith(Infinity);
    const image = {
      path: 'images/a #1.png',
      sha256,
      bytes: 10,
      url: 'https://a.test/1',
      expiresAt: '2026-01-01',
    };
    expect(await shelf.result(image)).toEqual({
      path: 'images/a%20%231.png',
      thumb: 'thumbnails/a%20%231.png.abababab.webp',
      bytes: 10,
      url: 'https://a.test/1',
      expiresAt: '2026-01-01',
    });
    expect(await nodeDisk.list(join(folder, 'thumbnails'))).toEqual(['a #1.png.abababab.webp']);
    expect(shelf.plain).toBe(0);
  });

  it('is shown itself where no thumbnail may be made', async () => {
    const { shelf } = await shelfWith(0);
    expect(await shelf.result({ path: 'images/a #1.png', sha256 })).toMatchObject({
      thumb: 'images/a%20%231.png',
    });
    expect(shelf.plain).toBe(1);
  });

  it.each(['../photo.png', '/etc/passwd', 'images/../../photo.png', 'C:\\x.png', '', 7])(
    'is not looked for at %j',
    async (path) => {
      const { shelf } = await shelfWith(Infinity);
      expect(await shelf.result({ path, sha256, url: 'javascript:alert(1)' })).toBeUndefined();
    },
  );

  it('is found where half a character stands in its name, for which the disk has U+FFFD', async () => {
    const { shelf, folder } = await shelfWith(0);
    await writeFile(join(folder, 'images', 'half \ud83d.png'), 'x');
    const found = await shelf.result({ path: 'images/half \ud83d.png', sha256 });
    expect(found?.path).toBe('images/half%20%EF%BF%BD.png');
    expect(await readdir(join(folder, 'images'))).toContain(decodeURIComponent(found!.path!).slice(7));
  });

  it('is a link where it was left at its URL', async () => {
    const { shelf } = await shelfWith(0);
    expect(await shelf.result({ url: 'https://a.test/1.png' })).toEqual({ url: 'https://a.test/1.png' });
  });
});

describe('a reference', () => {
  it('is a file beside the manifest, a link, or a name', async () => {
    const { shelf } = await shelfWith(Infinity);
    expect(await shelf.reference('photo.png')).toMatchObject({
      name: 'photo.png',
      path: '../photo.png',
      thumb: expect.stringMatching(/^thumbnails\/reference-[0-9a-f]{16}\.webp$/) as string,
    });
    expect(await shelf.reference('https://a.test/x.png')).toEqual({
      name: 'https://a.test/x.png',
      url: 'https://a.test/x.png',
    });
    expect(await shelf.reference('missing.png')).toEqual({ name: 'missing.png' });
    expect(await shelf.reference('javascript:alert(1)')).toEqual({ name: 'javascript:alert(1)' });
    expect((await shelf.reference(`data:image/png;base64,${'A'.repeat(5000)}`)).name.length).toBe(121);
  });

  it('is not followed through a link to somewhere else', async () => {
    const { shelf, parent } = await shelfWith(Infinity);
    await symlink('/etc/hostname', join(parent, 'link.png'));
    expect(await shelf.reference('link.png')).toEqual({ name: 'link.png' });
  });
});
