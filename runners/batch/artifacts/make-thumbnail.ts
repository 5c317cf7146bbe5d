import type Sharp from 'sharp';

/** The most a thumbnail may weigh: 2,000 of them, as base64 in one page, stay under 30 MB. */
export const maxThumbnailBytes = 11_000;

/** From the best to the plainest; the first that is light enough is taken. The last one always is. */
const tries = [
  { side: 320, quality: 70 },
  { side: 320, quality: 50 },
  { side: 320, quality: 30 },
  { side: 240, quality: 30 },
  { side: 160, quality: 20 },
] as const;

/**
 * A small WebP of a picture, upright and at most 320 pixels a side; `undefined` when sharp is not installed or the bytes
 * are no picture it can read. Never throws: a run does not fail over a thumbnail.
 */
export async function makeThumbnail(picture: Uint8Array): Promise<Uint8Array | undefined> {
  const sharp = await loadSharp();
  if (sharp === undefined) return undefined;
  try {
    for (const { side, quality } of tries) {
      const small = sharp(picture).rotate().resize(side, side, { fit: 'inside', withoutEnlargement: true });
      const bytes = await small.webp({ quality, effort: 3 }).toBuffer();
      if (bytes.length <= maxThumbnailBytes) return bytes;
    }
  } catch {
    // A broken or foreign picture has no thumbnail; the report shows the file itself.
  }
  return undefined;
}

async function loadSharp(): Promise<typeof Sharp | undefined> {
  try {
    return (await import('sharp')).default;
  } catch {
    return undefined;
  }
}
