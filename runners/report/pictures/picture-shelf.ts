import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { makeThumbnail } from '../../batch/artifacts/make-thumbnail.js';
import { thumbnailPath } from '../../batch/artifacts/thumbnail-path.js';
import type { Disk } from '../../batch/disk/disk.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import type { PagePicture, PageReference } from '../page-data.js';
import { isObject, type JsonObject } from '../read/read-jsonl.js';
import { relativeUrl } from './relative-url.js';

/** Larger files are shown as they are: nothing is made of them. */
const maxPictureBytes = 256 * 2 ** 20;
const longestName = 120;

/** Where the pictures of a run lie, with thumbnails that are made when they are missing. */
export interface PictureShelf {
  /** The `image` of a result. */
  result(image: unknown): Promise<PagePicture | undefined>;
  /** One of a row's references, as the manifest names it. */
  reference(name: string): Promise<PageReference>;
  /** Pictures that are shown without a thumbnail. */
  readonly plain: number;
}

export interface ShelfOptions {
  readonly disk: Disk;
  readonly folder: string;
  /** What relative references are relative to. */
  readonly manifestFolder: string;
  /** At most so many thumbnails are made; a run that made its own needs none. */
  readonly mayMake: number;
}

export async function openShelf({
  disk,
  folder,
  manifestFolder,
  mayMake,
}: ShelfOptions): Promise<PictureShelf> {
  const thumbnails = new Set(await disk.list(join(folder, 'thumbnails')));
  const references = new Map<string, Promise<PageReference>>();
  const atOnce = pLimit(4);
  let left = mayMake;
  let plain = 0;

  /** The thumbnail's URL; without one the picture's own. */
  async function thumbOf(picture: string, thumbnail: string): Promise<string | undefined> {
    const name = thumbnail.slice(thumbnail.indexOf('/') + 1);
    if (thumbnails.has(name)) return relativeUrl(folder, join(folder, thumbnail));
    if (left-- > 0 && (await atOnce(() => makeFrom(disk, picture, join(folder, thumbnail))))) {
      thumbnails.add(name);
      return relativeUrl(folder, join(folder, thumbnail));
    }
    plain++;
    return relativeUrl(folder, picture);
  }

  async function findReference(name: string): Promise<PageReference> {
    if (/^https?:\/\//i.test(name))
      return URL.canParse(name) ? { name: shortened(name), url: name } : { name: shortened(name) };
    if (/^[a-z][a-z+.-]+:/i.test(name)) return { name: shortened(name) };
    const path = resolve(manifestFolder, name);
    const found = await disk.stat(path).catch(() => undefined);
    if (found?.kind !== 'file') return { name: shortened(name) };
    const mark = createHash('sha256').update(`${path} ${found.size}`).digest('hex').slice(0, 16);
    return defined({
      name: shortened(name),
      path: relativeUrl(folder, path),
      thumb: await thumbOf(path, `thumbnails/reference-${mark}.webp`),
    });
  }

  return {
    get plain() {
      return plain;
    },
    async result(image) {
      if (!isObject(image)) return undefined;
      const path = safeImagePath(image['path']);
      if (path === undefined) return leftAtItsUrl(image);
      const sha256 = typeof image['sha256'] === 'string' ? image['sha256'] : '';
      return defined({
        path: relativeUrl(folder, join(folder, path)),
        thumb: await thumbOf(join(folder, path), thumbnailPath({ path, sha256 })),
        bytes: typeof image['bytes'] === 'number' ? image['bytes'] : undefined,
        url: webUrl(image['url']),
        expiresAt: textOf(image['expiresAt']),
      });
    },
    reference(name) {
      const known = references.get(name) ?? findReference(name);
      if (name.length < 1000) references.set(name, known);
      return known;
    },
  };
}

function leftAtItsUrl(image: JsonObject): PagePicture | undefined {
  const url = webUrl(image['url']);
  return url === undefined ? undefined : defined({ url, expiresAt: textOf(image['expiresAt']) });
}

/** Only what lies in the folder: results.jsonl is read as it stands, whoever wrote into it. */
function safeImagePath(path: unknown): string | undefined {
  if (typeof path !== 'string' || path === '' || path.startsWith('/')) return undefined;
  return path.split(/[/\\]/).some((part) => part === '..' || part === '') || /^[a-z]:/i.test(path)
    ? undefined
    : path;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function webUrl(url: unknown): string | undefined {
  return typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined;
}

async function makeFrom(disk: Disk, picture: string, thumbnail: string): Promise<boolean> {
  const bytes = await readWhole(disk, picture);
  const small = bytes === undefined ? undefined : await makeThumbnail(bytes);
  if (small === undefined) return false;
  await disk.mkdir(dirname(thumbnail));
  await replaceFile(disk, thumbnail, small);
  return true;
}

/** `undefined` when it is missing, no plain file, or too large. */
export async function readWhole(disk: Disk, path: string): Promise<Uint8Array | undefined> {
  const found = await disk.stat(path).catch(() => undefined);
  if (found?.kind !== 'file' || found.size > maxPictureBytes) return undefined;
  const file = await disk.open(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(found.size);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count)
      count = await file.read(bytes.subarray(filled), filled);
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

function shortened(name: string): string {
  return name.length > longestName ? `${name.slice(0, longestName)}…` : name;
}

function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
