import type Sharp from 'sharp';
import type { Disk } from '../disk/disk.js';
import { readFile } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import { kindOfPath } from './artifact-format.js';

/** Larger pictures go without: they would have to be held whole. */
export const largestThumbnailed = 32 * 2 ** 20;

/** A small copy of a picture; `undefined`: it cannot be made. */
export type MakeThumbnail = (picture: Uint8Array) => Promise<Uint8Array | undefined>;

/** Makes the thumbnail of a saved file that is a picture, where that can be done. Nothing depends on it, so it never fails. */
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
    // A report shows the picture itself where its thumbnail is missing.
  }
}

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
 * are not a picture it can read. Never throws: a run does not fail over a thumbnail.
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

/**
 * Where the thumbnail of a saved picture lies, relative to the output folder. The picture's hash is part of the name, so
 * that a picture that was bought again never shows the thumbnail of the earlier one.
 */
export function thumbnailPath(image: { readonly path: string; readonly sha256: string }): string {
  const name = image.path.slice(image.path.lastIndexOf('/') + 1);
  const digits = /^[0-9a-f]{8}/i.exec(image.sha256)?.[0] ?? '0';
  return `thumbnails/${name}.${digits}.webp`;
}
