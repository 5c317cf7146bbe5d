import { MillraceError } from '../../../src/contract/millrace-error.js';

/** A place that the service can fetch pictures of this machine from. */
export interface PictureHost {
  /**
   * Sees to it that the picture lies there, once for its content. Resolves to its name, which is not a secret and stands in
   * the files: `s3://bucket/prefix/<sha256>.png`.
   *
   * @param path as the manifest has it
   * @throws {UploadError}
   */
  put(path: string): Promise<string>;
  /** A public address of what `put` named, valid for this many milliseconds. Each call makes a new one. */
  addressOf(name: string, lifetimeMs: number): Promise<string>;
  /** Once nothing is asked of it any more. */
  close(): Promise<void>;
}

/** Where pictures are uploaded to. */
export interface UploadTarget {
  readonly bucket: string;
  /** Without slashes at its ends; the empty string: none. */
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
