import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { headBytes, pictureType } from './picture-type.js';

/** A picture that may be served. */
export interface LocalPicture {
  path: string;
  bytes: number;
  contentType: string;
}

/** The largest reference picture, in bytes. */
export const maxPictureBytes = 30_000_000;

/**
 * Finds a picture below a folder, also through symbolic links that stay inside it. A path that leads outside, a missing
 * file, one that is too large or no picture is a problem, worded as the end of a sentence that begins with the path.
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
  if (path === '' || path.includes('\0')) return 'is no path';
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path)) return 'is not relative';
  return path.split(/[/\\]/).includes('..') ? 'leads outside the folder' : undefined;
}

function readPicture(file: string): LocalPicture | { problem: string } {
  const info = statSync(file);
  if (!info.isFile()) return { problem: 'is no file' };
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
    ? { problem: 'is no picture' }
    : { path: file, bytes: info.size, contentType: `image/${type}` };
}
