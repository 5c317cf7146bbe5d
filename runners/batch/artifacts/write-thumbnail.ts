import type Sharp from 'sharp';
import type { Disk } from '../disk/disk.js';
import { readFile } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import { kindOfPath } from './artifact-format.js';

/** Larger pictures get no thumbnail, because they would have to be in memory as a whole. */
export const largestThumbnailed = 32 * 2 ** 20;

/** Makes a small copy of a picture; `undefined` if that is not possible. */
export type MakeThumbnail = (picture: Uint8Array) => Promise<Uint8Array | undefined>;

/** Makes the thumbnail of a saved file if it is a picture. Never throws, because nothing depends on the thumbnail. */
export async function writeThumbnail(
  disk: Disk,
  folder: string,
  file: { readonly path: string; readonly sha256: string; readonly bytes: number },
  make: MakeThumbnail = makeThumbnail,
): Promise<void> {
  if (kindOfPath(file.path) !== 'picture' || file.bytes > largestThumbnailed) return;
  try {
    const thumbnail = await make(await readFile(disk, `${folder}/${file.path}`, file.bytes));
    if (thumbnail === undefined) return;
    await disk.mkdir(`${folder}/thumbnails`);
    await replaceFile(disk, `${folder}/${thumbnailPath(file)}`, thumbnail);
  } catch {
    // A report shows the picture itself if its thumbnail is missing.
  }
}

/** The maximum size of a thumbnail: 2,000 of them, as base64 in one page, stay under 30 MB. */
export const maxThumbnailBytes = 11_000;

/** From the best to the plainest; the first that is small enough is used. */
const tries = [
  { side: 320, quality: 70 },
  { side: 320, quality: 50 },
  { side: 320, quality: 30 },
  { side: 240, quality: 30 },
  { side: 160, quality: 20 },
] as const;

/**
 * A small WebP of a picture, upright and at most 320 pixels a side; `undefined` if sharp is not installed, cannot read
 * the bytes, or no try is small enough. Never throws: a run does not fail because of a thumbnail.
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
    // A damaged or unknown picture has no thumbnail; the report shows the file itself.
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

/**
 * The path of a saved picture's thumbnail, relative to the output folder. The picture's hash is part of the name, so
 * that a picture that was bought again never shows the thumbnail of the earlier one.
 */
export function thumbnailPath(image: { readonly path: string; readonly sha256: string }): string {
  const name = image.path.slice(image.path.lastIndexOf('/') + 1);
  const digits = /^[0-9a-f]{8}/i.exec(image.sha256)?.[0] ?? '0';
  return `thumbnails/${name}.${digits}.webp`;
}
