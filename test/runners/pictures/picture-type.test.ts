import sharp from 'sharp';
import { expect, it } from 'vitest';
import { pictureType } from '../../../runners/pictures/find-local-picture.js';

it.each(['png', 'jpeg', 'webp', 'gif', 'avif', 'tiff'] as const)('knows %s by its bytes', async (type) => {
  const blank = sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } });
  expect(pictureType(await blank.toFormat(type).toBuffer())).toBe(type);
});

it.each(['', '\x89PNG', 'GIF86a', 'RIFF____WAVE', '<svg xmlns=', '%PDF-1.7', '____ftypisom'])(
  'knows that %j is none',
  (text) => {
    expect(pictureType(Buffer.from(text, 'latin1'))).toBeUndefined();
  },
);
