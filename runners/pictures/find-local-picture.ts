import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';

/** A picture that may be served. */
export interface LocalPicture {
  path: string;
  bytes: number;
  contentType: string;
}

/** The largest reference picture, in bytes. */
export const maxPictureBytes = 30_000_000;

/**
 * Finds a picture below a folder, also through symbolic links that stay inside it. The problem (a path that leads outside, a
 * missing file, one that is too large or no picture) is the end of a sentence that begins with the path.
 */
export function findLocalPicture(folder: string, path: string): LocalPicture | { problem: string } {
  const named = namedProblem(path);
  if (named !== undefined) return { problem: named };
  try {
    const root = realpathSync(folder);
    const file = realpathSync(join(root, path));
    const within = relative(root, file);
    if (within === '' || within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within))
      return { problem: 'leads outside the folder' };
    return readPicture(file);
  } catch (error) {
    return {
      problem: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read',
    };
  }
}

function namedProblem(path: string): string | undefined {
  if (path === '' || /\0|\p{Surrogate}/u.test(path)) return 'is not a path';
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path)) return 'is not relative';
  return path.split(/[/\\]/).includes('..') ? 'leads outside the folder' : undefined;
}

function readPicture(file: string): LocalPicture | { problem: string } {
  const info = statSync(file);
  if (!info.isFile()) return { problem: 'is not a file' };
  if (info.size > maxPictureBytes) return { problem: `is larger than ${maxPictureBytes} bytes` };
  const head = Buffer.alloc(headBytes);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, head, 0, headBytes, 0);
  } finally {
    closeSync(handle);
  }
  const type = pictureType(head);
  return type === undefined
    ? { problem: 'is not a picture' }
    : { path: file, bytes: info.size, contentType: `image/${type}` };
}

/** The kinds of picture that an edit may refer to. */
export type PictureType = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif' | 'tiff';

/** The number of leading bytes that identify a picture. */
export const headBytes = 16;

/** The type of a picture by its bytes, whatever its name or declared type; `undefined` if it is not a picture. */
export function pictureType(head: Uint8Array): PictureType | undefined {
  const text = Buffer.from(head.subarray(0, headBytes)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'webp';
  if (text.slice(4, 8) === 'ftyp' && /^(?:avif|avis|mif1)/.test(text.slice(8))) return 'avif';
  if (text.startsWith('II*\0') || text.startsWith('MM\0*')) return 'tiff';
  return undefined;
}
