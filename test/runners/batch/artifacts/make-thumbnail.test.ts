import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { makeThumbnail, maxThumbnailBytes } from '../../../../runners/batch/artifacts/write-thumbnail.js';
import { drawPicture } from '../../../support/draw-picture.js';

describe('makeThumbnail', () => {
  it('keeps the shape and stays within 320 pixels a side', async () => {
    const thumbnail = await makeThumbnail(
      await drawPicture({ subject: 1, background: 2, width: 1600, height: 900 }),
    );
    const { width, height, format } = await sharp(thumbnail).metadata();
    expect({ width, height, format }).toEqual({ width: 320, height: 180, format: 'webp' });
  });

  it('never enlarges a small picture', async () => {
    const thumbnail = await makeThumbnail(await drawPicture({ subject: 1, width: 40, height: 60 }));
    expect(await sharp(thumbnail).metadata()).toMatchObject({ width: 40, height: 60 });
  });

  it('is light enough even of noise, which compresses worst', async () => {
    const noise = sharp(randomBytes(1024 * 1024 * 3), { raw: { width: 1024, height: 1024, channels: 3 } });
    const thumbnail = await makeThumbnail(await noise.png().toBuffer());
    expect(thumbnail!.length).toBeLessThanOrEqual(maxThumbnailBytes);
  });

  it('turns a picture upright as its EXIF says', async () => {
    const lying = await sharp({ create: { width: 60, height: 40, channels: 3, background: 'red' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    expect(await sharp(await makeThumbnail(lying)).metadata()).toMatchObject({ width: 40, height: 60 });
  });

  it('makes nothing of bytes that are no picture', async () => {
    expect(await makeThumbnail(Buffer.from('<svg onload=alert(1)'))).toBeUndefined();
  });
});
