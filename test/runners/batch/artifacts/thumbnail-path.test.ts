import { expect, it } from 'vitest';
import { thumbnailPath } from '../../../../runners/batch/artifacts/write-thumbnail.js';

it('names a thumbnail by its picture and by what the picture holds', () => {
  const first = thumbnailPath({ path: 'images/cup-1.png', sha256: 'aaaaaaaa11' });
  expect(first).toBe('thumbnails/cup-1.png.aaaaaaaa.webp');
  expect(thumbnailPath({ path: 'images/cup-1.png', sha256: 'bbbbbbbb11' })).not.toBe(first);
});

it('takes nothing but hex digits of a hash into a path', () => {
  expect(thumbnailPath({ path: 'images/cup-1.png', sha256: '../../../etc' })).toBe(
    'thumbnails/cup-1.png.0.webp',
  );
});
