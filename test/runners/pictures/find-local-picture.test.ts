import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Emulator,
  findLocalPicture,
  localImageUrl,
  startEmulator,
} from '../../../runners/emulator/index.js';

const root = mkdtempSync(join(tmpdir(), 'millrace-files-'));
const folder = join(root, 'manifest');
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(20)]);
let emulator: Emulator;

beforeAll(async () => {
  mkdirSync(join(folder, 'sub dir'), { recursive: true });
  writeFileSync(join(folder, 'a.png'), png);
  writeFileSync(join(folder, 'sub dir/ü#1?%20.png'), png);
  writeFileSync(join(folder, '..hidden.png'), png);
  writeFileSync(join(folder, 'half\ufffd.png'), png);
  writeFileSync(join(folder, '.env'), 'KEY=secret');
  writeFileSync(join(folder, 'tiny.png'), 'x');
  writeFileSync(join(folder, 'big.png'), png);
  truncateSync(join(folder, 'big.png'), 30_000_001);
  writeFileSync(join(root, 'outside.png'), png);
  mkdirSync(join(root, 'manifest-two'));
  writeFileSync(join(root, 'manifest-two/b.png'), png);
  symlinkSync(join(root, 'outside.png'), join(folder, 'leak.png'));
  symlinkSync(root, join(folder, 'up'));
  symlinkSync('a.png', join(folder, 'alias.png'));
  emulator = await startEmulator({ files: folder });
});
afterAll(async () => {
  await emulator.close();
  rmSync(root, { recursive: true });
});

const good = ['a.png', './a.png', 'sub dir/ü#1?%20.png', 'alias.png', '..hidden.png', 'sub dir//ü#1?%20.png'];
const bad: [string, string][] = [
  ['../outside.png', 'leads outside the folder'],
  ['sub dir/../../outside.png', 'leads outside the folder'],
  ['sub dir/../a.png', 'leads outside the folder'],
  ['..\\outside.png', 'leads outside the folder'],
  ['leak.png', 'leads outside the folder'],
  ['up/outside.png', 'leads outside the folder'],
  ['up/manifest-two/b.png', 'leads outside the folder'],
  ['/etc/passwd', 'is not relative'],
  ['C:/windows/x.png', 'is not relative'],
  ['', 'is not a path'],
  ['a.png\0.txt', 'is not a path'],
  // The file system reads half a character as U+FFFD.
  ['half\ud800.png', 'is not a path'],
  ['none.png', 'does not exist'],
  ['a.png/b', 'cannot be read'],
  ['.', 'leads outside the folder'],
  ['sub dir', 'is not a file'],
  ['.env', 'is not a picture'],
  ['tiny.png', 'is not a picture'],
  ['big.png', 'is larger than 30000000 bytes'],
];

describe('findLocalPicture', () => {
  it.each(good)('finds %s', (path) => {
    expect(findLocalPicture(folder, path)).toMatchObject({ bytes: png.length, contentType: 'image/png' });
  });

  it.each(bad)('%j: %s', (path, problem) => {
    expect(findLocalPicture(folder, path)).toEqual({ problem });
  });
});

describe('the folder of an emulator', () => {
  it.each(good)('serves %s at its fileUrl, without a key', async (path) => {
    const url = emulator.fileUrl(path);
    expect(url).toBe(localImageUrl(emulator.baseUrl, path));
    const response = await fetch(url as string);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(png);
  });

  it.each(bad)('has no URL for %j', (path, problem) => {
    expect(emulator.fileUrl(path)).toEqual({ problem });
  });

  it.each([
    '/files/../outside.png',
    '/files/..%2foutside.png',
    '/files/%2e%2e/outside.png',
    '/files/..%5coutside.png',
    '/files/sub%20dir/..%2f..%2foutside.png',
    '/files//etc/passwd',
    '/files/%2fetc%2fpasswd',
    '/files/leak.png',
    '/files/up/outside.png',
    '/files/.env',
    '/files/a.png%00',
    '/files/%',
    '/files/',
    '/files/sub%20dir/%C3%BC%231%3F%252520.png',
  ])('answers 404 to GET %s', async (path) => {
    expect(await rawGet(path)).toBe(404);
  });

  it('serves nothing when there is none', async () => {
    const bare = await startEmulator();
    expect(bare.fileUrl('a.png')).toEqual({ problem: 'no folder is served' });
    expect((await fetch(`${bare.baseUrl}/files/a.png`)).status).toBe(404);
    await bare.close();
  });
});

/** A path just as it stands, without the tidying of a URL parser. */
function rawGet(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(emulator.baseUrl);
  const headers = { Authorization: `Bearer ${emulator.apiKey}` };
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, agent: false, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
