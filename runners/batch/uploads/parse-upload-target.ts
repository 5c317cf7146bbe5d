import { MillraceError } from '../../../src/contract/millrace-error.js';

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
    throw new MillraceError('invalid-option', `"${text}" is no place for pictures: write s3://bucket/prefix`);
  return { bucket, prefix: prefix.replace(/^\/+|\/+$/g, '') };
}
