import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pictureFormat } from '../../../../runners/batch/artifacts/artifact-format.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import {
  writeStarterManifest,
  type StarterOptions,
} from '../../../../runners/batch/manifest/write-starter-manifest.js';
import { readRows } from '../../../support/manifest-items.js';

const png = Buffer.from('\x89PNG\r\n\x1a\n________', 'latin1');
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0]);
const webp = Buffer.from('RIFF____WEBPVP8 ');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'starter-'));
});
afterEach(() => rm(folder, { recursive: true }));

const write = (given: Partial<StarterOptions> = {}): ReturnType<typeof writeStarterManifest> =>
  writeStarterManifest({ disk: nodeDisk, folder, prompt: 'make it red', formatOf: pictureFormat, ...given });

async function put(...files: [name: string, bytes: Uint8Array][]): Promise<void> {
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
}

describe('writeStarterManifest', () => {
  it('writes an edit for each picture, and says what it left out', async () => {
    await put(
      ['b.JPG', jpeg],
      ['a.png', png],
      ['c.webp', webp],
      ['d.gif', Buffer.from('GIF89a__________')],
      ['notes.txt', Buffer.from('x')],
      ['empty.png', Buffer.alloc(0)],
    );
    await mkdir(join(folder, 'more'));
    await symlink(join(folder, 'a.png'), join(folder, 'link.png'));
    const path = join(folder, 'edits.csv');
    expect(await write()).toEqual({
      path,
      pictures: 3,
      skipped: [
        { name: 'd.gif', why: 'is a gif picture; PNG, JPEG and WebP are accepted' },
        { name: 'empty.png', why: 'is not a picture' },
        { name: 'link.png', why: 'is not a plain file' },
        { name: 'more', why: 'is a folder' },
        { name: 'notes.txt', why: 'is not a picture' },
      ],
    });
    expect(await readFile(path, 'utf8')).toBe(
      'id,images,prompt\na,a.png,make it red\nb,b.JPG,make it red\nc,c.webp,make it red\n',
    );
  });

  it('writes what can be read again, whatever the names', async () => {
    const names = [
      '=cmd.png',
      '-x.png',
      '@a.png',
      '[1].png',
      'a b.png',
      'A B.png',
      'a.jpg',
      'a.png',
      'a|b.png',
      'c"d,e.png',
      'http:x.png',
      'comma,',
      'é.png',
      '.png',
      'a-2.png',
    ];
    await put(...names.map((name): [string, Uint8Array] => [name, png]), ['new\nline.png', png]);
    const prompt = '=1+1, "quoted"\nand more';
    const { path, skipped } = await write({ prompt });
    expect(skipped).toEqual([{ name: 'new\nline.png', why: 'has a name that a manifest cannot hold' }]);
    const text = await readFile(path, 'utf8');
    const rows = await readRows(text, { resolveImage: (image) => `http://h/${encodeURIComponent(image)}` });
    const read = rows.map(({ request }) => (request.kind === 'edit' ? request.input : undefined));
    const paths = read.map((input) => decodeURIComponent((input?.images[0] ?? '').slice('http://h/'.length)));
    expect(paths.map((image) => image.replace(/^\.\//, ''))).toEqual([...names].sort());
    expect(new Set(read.map((input) => input?.prompt))).toEqual(new Set([` ${prompt}`]));
    expect(rows.map(({ id }) => id)).toHaveLength(names.length);
    expect(text.split('\n').filter((line) => /^["]?[-=+@\t]/.test(line))).toEqual([]);
  });

  it('writes no cell that a spreadsheet takes for a formula, with a full-width sign or a line break either', async () => {
    await put(['\uff1dsum.png', png], ['\uff20a.png', png]);
    const { path } = await write({ prompt: '\uff0b1' });
    expect(await readFile(path, 'utf8')).toBe(
      'id,images,prompt\nsum,./\uff1dsum.png, \uff0b1\na,./\uff20a.png, \uff0b1\n',
    );
    await rm(path);
    const rows = await readRows(await readFile((await write({ prompt: '\r=1' })).path, 'utf8'), {
      resolveImage: (image) => `http://h/${encodeURIComponent(image)}`,
    });
    expect(rows.map(({ request }) => (request.kind === 'edit' ? request.input.prompt : ''))).toEqual([
      ' \r=1',
      ' \r=1',
    ]);
  });

  it('gives names that look the same two ids, which can be typed', async () => {
    await put(['e\u0301.png', png], ['\u00e9.jpg', jpeg]);
    const rows = await readRows(await readFile((await write()).path, 'utf8'), {
      resolveImage: (image) => `http://h/${encodeURIComponent(image)}`,
    });
    expect(rows.map(({ id }) => id)).toEqual(['\u00e9', '\u00e9-2']);
  });

  it('names pictures from a folder above', async () => {
    await mkdir(join(folder, 'my pictures'));
    await put(['my pictures/a.png', png]);
    const path = join(folder, 'red.csv');
    await write({ folder: join(folder, 'my pictures'), manifest: path });
    expect(await readFile(path, 'utf8')).toBe('id,images,prompt\na,"[""my pictures/a.png""]",make it red\n');
  });

  it('does not write over a manifest', async () => {
    await put(['a.png', png], ['edits.csv', Buffer.from('mine')]);
    await expect(write()).rejects.toThrow('edits.csv: is there already; move it away, or name another file');
    expect(await readFile(join(folder, 'edits.csv'), 'utf8')).toBe('mine');
  });

  it('refuses a folder without pictures or that is none, a manifest elsewhere, an empty prompt', async () => {
    await expect(write()).rejects.toThrow(`${folder} holds no PNG, JPEG or WebP picture`);
    await put(['edits', png]);
    for (const none of ['edits', 'nowhere'])
      await expect(write({ folder: join(folder, none) })).rejects.toThrow(`${none}: there is no such folder`);
    await expect(write({ manifest: join(folder, 'sub', 'x.csv') })).rejects.toThrow('must be in');
    await expect(write({ prompt: ' ' })).rejects.toThrow('the prompt is empty');
  });
});
