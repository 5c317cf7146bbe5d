import { join } from 'node:path';
import type { Disk } from '../disk/disk.js';

const headBytes = 16;
const taken: readonly unknown[] = ['png', 'jpeg', 'webp'];

/** The format of a picture by its first 16 bytes; `undefined`: no picture. */
export type PictureFormatOf = (head: Uint8Array) => string | undefined;

export interface SkippedFile {
  readonly name: string;
  /** Reads as the end of a sentence that begins with the name. */
  readonly why: string;
}

/** The sorted names of the pictures in a folder, and of the other files there. */
export async function findPictures(
  disk: Disk,
  folder: string,
  formatOf: PictureFormatOf,
): Promise<{ readonly pictures: string[]; readonly skipped: SkippedFile[] }> {
  const pictures: string[] = [];
  const skipped: SkippedFile[] = [];
  for (const name of (await disk.list(folder)).sort()) {
    const why = await whyNot(disk, folder, name, formatOf);
    if (why === undefined) pictures.push(name);
    else skipped.push({ name, why });
  }
  return { pictures, skipped };
}

async function whyNot(
  disk: Disk,
  folder: string,
  name: string,
  formatOf: PictureFormatOf,
): Promise<string | undefined> {
  if (/[\u0000-\u001f\u007f\ufffd]/.test(name)) return 'has a name that a manifest cannot hold';
  const path = join(folder, name);
  const found = await disk.stat(path);
  if (found?.kind !== 'file') return found?.kind === 'folder' ? 'is a folder' : 'is no plain file';
  const format = formatOf(await readHead(disk, path));
  if (format === undefined) return 'is no picture';
  return taken.includes(format) ? undefined : `is a ${format} picture; PNG, JPEG and WebP are taken`;
}

async function readHead(disk: Disk, path: string): Promise<Uint8Array> {
  const file = await disk.open(path, 'r');
  try {
    const head = new Uint8Array(headBytes);
    return head.subarray(0, await file.read(head, 0));
  } finally {
    await file.close();
  }
}
