import { MillraceError } from '../../../src/contract/millrace-error.js';

/** A store from which the service can fetch local pictures. */
export interface PictureHost {
  /**
   * Uploads the picture unless it is there already. Resolves to its name, which is based on its content, is not a
   * secret and is written to files: `s3://bucket/prefix/<sha256>.png`.
   *
   * @param path as the manifest has it
   * @throws {UploadError}
   */
  put(path: string): Promise<string>;
  /** A public URL for a name from `put`, valid for this many milliseconds. Each call makes a new one. */
  addressOf(name: string, lifetimeMs: number): Promise<string>;
  /** Call it once no other method is used any more. */
  close(): Promise<void>;
}

/** Where pictures are uploaded to. */
export interface UploadTarget {
  readonly bucket: string;
  /** Without slashes at its ends; the empty string means no prefix. */
  readonly prefix: string;
}

/**
 * Reads `s3://bucket/prefix`.
 *
 * @throws {MillraceError} `invalid-option` for anything else
 */
export function parseUploadTarget(text: string): UploadTarget {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(\/[^?#\\]*)?$/.exec(text) ?? [];
  if (bucket === undefined)
    throw new MillraceError(
      'invalid-option',
      `"${text}" is not a place for pictures: write s3://bucket/prefix, the bucket in 3 to 63 small letters, digits, dots and hyphens`,
    );
  return { bucket, prefix: prefix.replace(/^\/+|\/+$/g, '') };
}

/**
 * Why a picture could not be uploaded. `picture`: it is not a picture, or cannot be read; other rows may succeed.
 * `refused`: the store denies access. `unreachable`: the store does not answer. Nothing of the row was sent.
 */
export class UploadError extends MillraceError {
  static override readonly name: string = 'UploadError';

  constructor(
    readonly why: 'picture' | 'refused' | 'unreachable',
    message: string,
    cause?: unknown,
  ) {
    super('upload', message, cause === undefined ? {} : { cause });
  }
}
