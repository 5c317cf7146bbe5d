import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PictureEnd } from '../../../../runners/batch/artifacts/picture-end.js';
import { onePixel } from '../../../support/other-server.js';

const webp = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from([40, 0, 0, 0]),
  Buffer.from('WEBPVP8 '),
  Buffer.alloc(32),
]);

function isMissing(picture: Buffer, chunkBytes: number): boolean {
  const end = new PictureEnd();
  for (let at = 0; at < picture.length; at += chunkBytes) end.add(picture.subarray(at, at + chunkBytes));
  return end.isMissing;
}

describe('PictureEnd', () => {
  it.each([
    ['png', () => onePixel],
    ['jpeg', () => readFile('samples/pictures/desert.jpg')],
    ['webp', () => webp],
  ])('comes with a whole %s, however it is cut into pieces, and with no other', async (_, read) => {
    const picture = await read();
    for (const chunkBytes of [5, 4_096, 1 << 20]) {
      expect(isMissing(picture, chunkBytes)).toBe(false);
      for (const share of [0.3, 0.6, 0.9])
        expect(isMissing(picture.subarray(0, Math.max(16, picture.length * share)), chunkBytes)).toBe(true);
      expect(isMissing(picture.subarray(0, -1), chunkBytes)).toBe(true);
    }
  });

  it('lets bytes behind the end pass', () => {
    expect(isMissing(Buffer.concat([onePixel, Buffer.alloc(1_000)]), 64)).toBe(false);
  });

  it.each([7, 4_096, 1 << 20])(
    'lets a film behind a photo pass, in pieces of %s bytes',
    async (chunkBytes) => {
      const film = Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * 7_919) % 251));
      const photo = await readFile('samples/pictures/desert.jpg');
      expect(isMissing(Buffer.concat([photo, film, Buffer.from([0xff, 0xda])]), chunkBytes)).toBe(false);
      expect(isMissing(Buffer.concat([onePixel, film]), chunkBytes)).toBe(false);
    },
  );

  it.each([7, 4_096, 1 << 20])(
    'is not that of a preview within the picture, in pieces of %s bytes',
    async (chunkBytes) => {
      const photo = await readFile('samples/pictures/desert.jpg');
      const preview = photo.subarray(0, 30_000);
      const head = Buffer.from([
        0xff,
        0xd8,
        0xff,
        0xe1,
        (preview.length + 4) >> 8,
        (preview.length + 4) & 0xff,
      ]);
      const whole = Buffer.concat([head, preview, Buffer.from([0xff, 0xd9]), photo.subarray(2)]);
      expect(isMissing(whole, chunkBytes)).toBe(false);
      expect(isMissing(whole.subarray(0, -2), chunkBytes)).toBe(true);
      expect(isMissing(whole.subarray(0, 31_000), chunkBytes)).toBe(true);
    },
  );

  it('says nothing of what is no picture, or has no mark at its end', () => {
    expect(isMissing(Buffer.from('GIF89a and so on, and so on'), 64)).toBe(false);
    expect(isMissing(Buffer.from('<html>'), 64)).toBe(false);
    expect(isMissing(Buffer.alloc(0), 64)).toBe(false);
  });
});
