import pLimit from 'p-limit';
import type { S3Store } from './open-s3-store.js';
import type { UploadTarget } from './parse-upload-target.js';
import type { PictureHost } from './picture-host.js';
import { readPicture, statPicture } from './read-picture.js';
import type { UploadNotes } from './upload-notes.js';

/** Where pictures come from and go to. */
export interface HostOptions extends UploadTarget {
  readonly store: S3Store;
  /** Paths begin here, and none leads out of it. */
  readonly folder: string;
  readonly notes: UploadNotes;
}

/** Pictures of up to 30 MB are in memory meanwhile. */
const uploadsAtOnce = 4;
/** So many are remembered, for all the rows that name them. */
const remembered = 10_000;

/**
 * Uploads each picture once for its content, under its SHA-256: what lies there already, from whatever row, start or run,
 * is not sent again.
 */
export function createPictureHost({ store, bucket, prefix, folder, notes }: HostOptions): PictureHost {
  const limit = pLimit(uploadsAtOnce);
  const byPath = new Map<string, Promise<string>>();
  const byKey = new Map<string, Promise<void>>();
  const scheme = `s3://${bucket}/`;

  async function put(path: string): Promise<string> {
    const picture = await statPicture(folder, path);
    const note = notes.find(path, picture);
    if (note?.name.startsWith(scheme) === true && (await store.has(note.name.slice(scheme.length))))
      return note.name;
    const { bytes, sha256 } = await readPicture(picture, path);
    const key = `${prefix === '' ? '' : `${prefix}/`}${sha256}.${picture.type}`;
    await once(byKey, key, async () => {
      if (!(await store.has(key))) await store.add(key, bytes, `image/${picture.type}`);
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

/** What failed is tried again by the next who asks. */
function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= remembered) known.clear();
  const made = make();
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}
