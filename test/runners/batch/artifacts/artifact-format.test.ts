import { describe, expect, it } from 'vitest';
import sharp from 'sharp';
import { pictureFormat } from '../../../../runners/batch/artifacts/artifact-format.js';

const raw = { create: { width: 8, height: 8, channels: 3 as const, background: 'teal' } };

describe('pictureFormat', () => {
  it.each(['png', 'jpeg', 'webp', 'gif', 'avif', 'tiff'] as const)(
    'knows %s by its first bytes',
    async (format) => {
      expect(pictureFormat(await sharp(raw).toFormat(format).toBuffer())).toBe(format);
    },
  );

  it.each([
    ['nothing', ''],
    ['a page', '<!doctype html><html></html>'],
    ['a PDF', '%PDF-1.7 and so on'],
    ['the head of a PNG', '\x89PNG'],
    ['JSON', '{"image_url":"https://e.test"}'],
  ])('is undefined for %s', (_what, text) => {
    expect(pictureFormat(Buffer.from(text, 'latin1'))).toBeUndefined();
  });

  it('looks at a part of a larger buffer alone', () => {
    const bytes = Buffer.concat([Buffer.from('xx'), Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(20)]);
    expect(pictureFormat(bytes.subarray(2))).toBe('jpeg');
  });
});
