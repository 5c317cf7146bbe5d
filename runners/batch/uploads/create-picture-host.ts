import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import pLimit from 'p-limit';
import { findLocalPicture, maxPictureBytes } from '../../pictures/find-local-picture.js';
import type { Row } from '../manifest/manifest-row.js';
import { askedHash, hashWord } from '../manifest/request-hash.js';
import type { S3Store } from './open-s3-store.js';
import {
  imagesOf,
  type UploadTarget,
  type PictureHost,
  UploadError,
  uploadedSha256,
} from './picture-host.js';
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
    async sha256Of(path, sizes) {
      const picture = await statPicture(folder, path);
      if (sizes?.has(picture.bytes) === false) return undefined;
      return (notes.find(path, picture) ?? (await readPicture(picture, path))).sha256;
    },
    addressOf: (name, lifetimeMs) => store.addressOf(name.slice(scheme.length), lifetimeMs),
    close: () => {
      store.close?.();
      return notes.close();
    },
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

/** What decides which request a row sends. */
type Asking = Pick<Row, 'kind' | 'endpoint' | 'columns' | 'request'>;

/**
 * Identifies what a sent request with uploaded pictures asks for, by the bytes of these: their paths lead to other pictures in another
 * folder or at another time. The second hash leaves them out, for rows whose pictures cannot be read. Empty if it has none.
 */
export function uploadedHashes(sent: Asking): readonly string[] {
  const byBytes = hashNaming(sent, (image) => {
    const sha256 = uploadedSha256(image);
    return sha256 && `sha256:${sha256}`;
  });
  const withoutPictures = hashNaming(sent, (image) => uploadedSha256(image) && '');
  return byBytes === undefined || withoutPictures === undefined ? [] : [byBytes, withoutPictures];
}

/** What a row with local pictures asks for besides these. `undefined` if it has none. */
export function hashWithoutPictures(row: Asking): string | undefined {
  return hashNaming(row, (image) => localPicturePath(image) && '');
}

export function hasLocalPictures(row: Pick<Row, 'request'>): boolean {
  return imagesOf(row.request).some((image) => localPicturePath(image) !== undefined);
}

/** The requests of a run that have uploaded pictures. */
export class UploadedRequests {
  readonly #others = new Set<number>();
  readonly #sizes = new Set<number>();
  #areSizesKnown = true;

  /** @param sizeOf the sizes of pictures, by their SHA-256 */
  constructor(private readonly sizeOf: ReadonlyMap<string, number>) {}

  add(sent: Asking): void {
    const [, withoutPictures] = uploadedHashes(sent);
    if (withoutPictures === undefined) return;
    this.#others.add(hashWord(withoutPictures, 0));
    for (const image of imagesOf(sent.request)) {
      const sha256 = uploadedSha256(image);
      const size = sha256 === undefined ? 0 : this.sizeOf.get(sha256);
      if (size === undefined) this.#areSizesKnown = false;
      else this.#sizes.add(size);
    }
  }

  /** Whether one of them may differ from this row in its pictures alone. */
  mayHave(row: Asking): boolean {
    if (this.#others.size === 0) return false;
    const hash = hashWithoutPictures(row);
    return hash !== undefined && this.#others.has(hashWord(hash, 0));
  }

  /** The sizes of their pictures in bytes. `undefined` if one is not known. */
  get sizes(): ReadonlySet<number> | undefined {
    return this.#areSizesKnown ? this.#sizes : undefined;
  }
}

/**
 * The hashes of rows with local pictures, as `uploadedHashes` gives them once these are uploaded. Reads each picture once. A row with a
 * picture that cannot be read has the hash without pictures: it may ask for what any such request has bought, because the disk may
 * be there again when the row is sent.
 */
export class HashesByBytes {
  readonly #hashes = new Map<string, string>();
  readonly #pictures = new Map<string, string>();
  #host: Promise<PictureHost> | undefined;

  /** @param open opens the uploader. @defaultValue no row has such a hash */
  constructor(private readonly open?: () => Promise<PictureHost>) {}

  /** The hash that `hashOf` has found. */
  known({ hash }: Pick<Row, 'hash'>): string | undefined {
    return this.#hashes.get(hash);
  }

  /** @param among `undefined` is the answer if none of these requests asks for the same; then a picture is read only if its size is right */
  async hashOf(row: Row, among?: UploadedRequests): Promise<string | undefined> {
    const known = this.known(row);
    if (known !== undefined || this.open === undefined || among?.mayHave(row) === false) return known;
    const names = new Map<string, string>();
    let isRead = true;
    for (const image of imagesOf(row.request)) {
      const path = localPicturePath(image);
      if (path === undefined) continue;
      const sha256 = this.#pictures.get(path) ?? (await this.#read(path, among?.sizes));
      if (sha256 === undefined) return undefined;
      if (sha256 === '') isRead = false;
      else this.#pictures.set(path, sha256);
      names.set(image, `sha256:${sha256}`);
    }
    const hash = isRead ? hashNaming(row, (image) => names.get(image)) : hashWithoutPictures(row);
    if (hash !== undefined) this.#hashes.set(row.hash, hash);
    return hash;
  }

  async close(): Promise<void> {
    await (await this.#host?.catch(() => undefined))?.close();
  }

  /** The empty string if the picture cannot be read. */
  async #read(path: string, sizes: ReadonlySet<number> | undefined): Promise<string | undefined> {
    try {
      const host = await (this.#host ??= this.open?.());
      return host?.sha256Of === undefined ? '' : await host.sha256Of(path, sizes);
    } catch {
      return '';
    }
  }
}

/** The hash of a request with other names for some of its images; `undefined` if `nameOf` has a name for none. */
function hashNaming(
  { kind, endpoint, columns, request }: Asking,
  nameOf: (image: string) => string | undefined,
): string | undefined {
  if (request.kind !== 'edit') return undefined;
  const names = imagesOf(request).map(nameOf);
  if (names.every((name) => name === undefined)) return undefined;
  const images = imagesOf(request).map((image, at) => names[at] ?? image);
  return askedHash({
    kind,
    endpoint,
    columns,
    hash: '',
    request: { kind, input: { ...request.input, images } },
  });
}
