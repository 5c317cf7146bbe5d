import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import pLimit from 'p-limit';
import { findLocalPicture, maxPictureBytes } from '../../pictures/find-local-picture.js';
import type { S3Store } from './open-s3-store.js';
import { type UploadTarget, type PictureHost, UploadError } from './picture-host.js';
import type { UploadNotes } from './upload-notes.js';

/** Where pictures are read and uploaded. */
export interface HostOptions extends UploadTarget {
  readonly store: S3Store;
  /** Paths are relative to this folder, and cannot lead out of it. */
  readonly folder: string;
  readonly notes: UploadNotes;
}

/** Few, because each upload has a picture of up to 30 MB in memory. */
const uploadsAtOnce = 4;
/** How many pictures are remembered, for all rows that name them. */
const remembered = 10_000;

/**
 * Uploads each picture once, under its SHA-256: a picture that is in the store already, from any row, start or run, is
 * not sent again.
 */
export function createPictureHost({ store, bucket, prefix, folder, notes }: HostOptions): PictureHost {
  const limit = pLimit(uploadsAtOnce);
  const byPath = new Map<string, Promise<string>>();
  const byKey = new Map<string, Promise<void>>();
  const scheme = `s3://${bucket}/`;

  /** `undefined` if the store refuses to say, as S3 does without s3:ListBucket where it lacks a picture. */
  const has = (key: string): Promise<boolean | undefined> =>
    store.has(key).catch((error: unknown) => {
      if (error instanceof UploadError && error.why === 'refused') return undefined;
      throw error;
    });

  async function put(path: string): Promise<string> {
    const picture = await statPicture(folder, path);
    const note = notes.find(path, picture);
    if (note?.name.startsWith(scheme) === true && (await has(note.name.slice(scheme.length))) === true)
      return note.name;
    const { bytes, sha256 } = await readPicture(picture, path);
    const key = `${prefix === '' ? '' : `${prefix}/`}${sha256}.${picture.type}`;
    await once(byKey, key, async () => {
      const isThere = await has(key);
      if (isThere !== true) await store.add(key, bytes, `image/${picture.type}`);
      // An address that is signed by somebody who may not read the picture is of no use to the service.
      if (isThere === undefined) await store.has(key);
    });
    const name = `${scheme}${key}`;
    await notes.add({ path, bytes: picture.bytes, mtimeMs: picture.mtimeMs, sha256, name });
    return name;
  }

  return {
    put: (path) => once(byPath, path, () => limit(put, path)),
    addressOf: (name, lifetimeMs) => store.addressOf(name.slice(scheme.length), lifetimeMs),
    close: () => notes.close(),
  };
}

/** A failed upload is forgotten, so that the next row tries again. */
function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= remembered) known.clear();
  const made = make();
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}

/** A local picture, checked once more before its upload because files change. */
export interface PictureOnDisk {
  readonly file: string;
  /** `png`, `jpeg`, … */
  readonly type: string;
  readonly bytes: number;
  /** The later of its modification and change times, in ms since the epoch. */
  readonly mtimeMs: number;
}

/** @throws {UploadError} `picture` */
export async function statPicture(folder: string, path: string): Promise<PictureOnDisk> {
  const found = findLocalPicture(folder, path);
  if ('problem' in found) throw new UploadError('picture', `the picture "${path}" ${found.problem}`);
  const { mtimeMs, ctimeMs } = await stat(found.path).catch((error: unknown) => vanished(path, error));
  const { path: file, bytes, contentType } = found;
  // The change time is included, because a copy may keep the modification time of its source.
  return { file, bytes, mtimeMs: Math.max(mtimeMs, ctimeMs), type: contentType.replace('image/', '') };
}

/** The bytes of the picture, with their SHA-256 in hex. */
export async function readPicture(
  { file, bytes: size }: PictureOnDisk,
  path: string,
): Promise<{ readonly bytes: Buffer; readonly sha256: string }> {
  const bytes = await readFile(file).catch((error: unknown) => vanished(path, error));
  if (bytes.length > maxPictureBytes)
    throw new UploadError('picture', `the picture "${path}" has grown beyond ${maxPictureBytes} bytes`);
  if (bytes.length !== size)
    throw new UploadError(
      'picture',
      `the picture "${path}" changed while it was read, from ${size} to ${bytes.length} bytes`,
    );
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function vanished(path: string, error: unknown): never {
  const { code = 'error' } = error as NodeJS.ErrnoException;
  throw new UploadError('picture', `the picture "${path}" cannot be read (${code})`, error);
}

/** No host exists below `.invalid`, so the placeholder for a local picture can never be fetched by mistake. */
const origin = 'https://local-picture.invalid/';

/** The placeholder for a local picture in a checked row, until it is uploaded. */
export function localPicture(path: string): string {
  return `${origin}${encodeURIComponent(path)}`;
}

/** The path for which an image is a placeholder; `undefined` if the image has its own URL. */
export function localPicturePath(image: string): string | undefined {
  return image.startsWith(origin) ? decodeURIComponent(image.slice(origin.length)) : undefined;
}
