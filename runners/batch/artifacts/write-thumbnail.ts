import type { Disk } from '../disk/disk.js';
import { replaceFile } from '../disk/replace-file.js';
import { makeThumbnail as makeBySharp } from './make-thumbnail.js';
import { thumbnailPath } from './thumbnail-path.js';

/** Larger pictures go without: they would have to be held whole. */
const largest = 32 * 2 ** 20;

/** A small copy of a picture; `undefined`: it cannot be made. */
export type MakeThumbnail = (picture: Uint8Array) => Promise<Uint8Array | undefined>;

/** Makes the thumbnail of a saved picture, where that can be done. Nothing depends on it, so it never fails. */
export async function writeThumbnail(
  disk: Disk,
  folder: string,
  image: { readonly path: string; readonly sha256: string; readonly bytes: number },
  makeThumbnail: MakeThumbnail = makeBySharp,
): Promise<void> {
  if (image.bytes > largest) return;
  try {
    const thumbnail = await makeThumbnail(await readWhole(disk, `${folder}/${image.path}`, image.bytes));
    if (thumbnail === undefined) return;
    await disk.mkdir(`${folder}/thumbnails`);
    await replaceFile(disk, `${folder}/${thumbnailPath(image)}`, thumbnail);
  } catch {
    // A report shows the picture itself where its thumbnail is missing.
  }
}

async function readWhole(disk: Disk, path: string, size: number): Promise<Buffer> {
  const file = await disk.open(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(size);
    let done = 0;
    for (let count = 1; count > 0 && done < size; done += count)
      count = await file.read(bytes.subarray(done), done);
    return bytes.subarray(0, done);
  } finally {
    await file.close();
  }
}
