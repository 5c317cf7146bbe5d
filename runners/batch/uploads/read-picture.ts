import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { findLocalPicture, maxPictureBytes } from '../../pictures/find-local-picture.js';
import { UploadError } from './upload-error.js';

/** A picture of this machine, checked once more: files change. */
export interface PictureOnDisk {
  readonly file: string;
  /** `png`, `jpeg`, … */
  readonly type: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

/** @throws {UploadError} `picture` */
export async function statPicture(folder: string, path: string): Promise<PictureOnDisk> {
  const found = findLocalPicture(folder, path);
  if ('problem' in found) throw new UploadError('picture', `the picture "${path}" ${found.problem}`);
  const { mtimeMs } = await stat(found.path).catch((error: unknown) => vanished(path, error));
  const { path: file, bytes, contentType } = found;
  return { file, bytes, mtimeMs, type: contentType.replace('image/', '') };
}

/** Its bytes, with their SHA-256 in hex. */
export async function readPicture(
  { file }: PictureOnDisk,
  path: string,
): Promise<{ readonly bytes: Buffer; readonly sha256: string }> {
  const bytes = await readFile(file).catch((error: unknown) => vanished(path, error));
  if (bytes.length > maxPictureBytes)
    throw new UploadError('picture', `the picture "${path}" has grown beyond ${maxPictureBytes} bytes`);
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function vanished(path: string, error: unknown): never {
  const { code = 'error' } = error as NodeJS.ErrnoException;
  throw new UploadError('picture', `the picture "${path}" cannot be read (${code})`, error);
}
