import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { imageUrlLifetimeMs } from '../../src/contract/limits.js';
import type { TempFolder } from './temp-folder.js';

/** A picture or another file that can be downloaded for a while. */
export interface StoredPicture {
  path: string;
  bytes: number;
  contentType: string;
  expiresAt: number;
}

const contentTypes = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webm: 'video/webm',
  wav: 'audio/wav',
  pdf: 'application/pdf',
  zip: 'application/zip',
} as const;

/** By the extension of its name. */
export type StoredFormat = keyof typeof contentTypes;

/** Keeps edited pictures and sample files on disk for 7 days, up to a number of bytes: the oldest are removed first. (spec 8) */
export interface PictureStore {
  /** Resolves to the picture's name, the last part of its URL. */
  add(bytes: Buffer, format: StoredFormat): Promise<string>;
  find(name: string): StoredPicture | undefined;
}

/** Keeps the pictures in the emulator's temporary folder. */
export function createPictureStore(folder: TempFolder, now: () => number, maxBytes: number): PictureStore {
  const pictures = new Map<string, StoredPicture>();
  let total = 0;

  const drop = (name: string, picture: StoredPicture): void => {
    pictures.delete(name);
    total -= picture.bytes;
    rmSync(picture.path, { force: true });
  };
  const sweep = (): void => {
    for (const [name, picture] of pictures) {
      if (picture.expiresAt > now() && (total <= maxBytes || pictures.size === 1)) return;
      drop(name, picture);
    }
  };

  return {
    async add(bytes, format) {
      const name = `${randomUUID()}.${format}`;
      const path = join(folder.path(), name);
      await writeFile(path, bytes);
      const expiresAt = now() + imageUrlLifetimeMs;
      pictures.set(name, { path, bytes: bytes.length, contentType: contentTypes[format], expiresAt });
      total += bytes.length;
      sweep();
      return name;
    },
    find(name) {
      sweep();
      return pictures.get(name);
    },
  };
}
