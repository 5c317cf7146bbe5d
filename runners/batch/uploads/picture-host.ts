import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { RowRequest } from '../manifest/manifest-row.js';

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
  /**
   * The SHA-256 of the picture's bytes, in hex, without an upload. By it a start finds what other runs have bought.
   *
   * @param sizes `undefined` is the answer if the picture has none of these sizes, in bytes; it need not be read then. @defaultValue any
   * @defaultValue purchases of other runs are compared by the paths of their pictures
   * @throws {UploadError} `picture`
   */
  sha256Of?(path: string, sizes?: ReadonlySet<number>): Promise<string | undefined>;
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

/** The SHA-256 in the name of an uploaded picture in a request; `undefined` if the image has its own URL, or another name. */
export function uploadedSha256(image: string): string | undefined {
  return /^s3:\/\/(?:[^#]*\/)?([0-9a-f]{64})\.\w+(?:#|$)/.exec(image)?.[1];
}

/** The pictures that a request names. That of a row whose journal was repaired may be lost, with its pictures. */
export function imagesOf(request: RowRequest): readonly string[] {
  const { images = [] }: { images?: readonly string[] } = request.kind === 'edit' ? request.input : {};
  return images;
}

/** The patterns of the signatures in presigned URLs of the uploaded pictures that a request names. */
export function signaturesIn(request: RowRequest): readonly RegExp[] {
  return imagesOf(request).flatMap((image) => signatureIn(image) ?? []);
}

/**
 * The pattern of the signature in presigned URLs of an uploaded picture, by its name in a request; `undefined` if the image has its own
 * URL. It matches in no URL of another object, also where that has the same name in another folder or bucket of the store: it may be
 * the address of a result.
 */
export function signatureIn(image: string): RegExp | undefined {
  const [, bucket, key] = /^s3:\/\/([^/#]+)\/([^#]+)/.exec(image) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  // The text may be a long row of backslashes.
  const slash = String.raw`\\{0,16}/`;
  const path = key.split('/').map((part) => `(?:${literal(inUrl(part))}|${literal(part)})`);
  const place = `(?:${literal(bucket)}\\.${hostPattern}|${hostPattern}${slash}${literal(bucket)})`;
  const address = [`/${slash}${place}`, ...path].join(slash);
  return new RegExp(`${address}\\?[^${urlEnds}?]{0,16384}?X-Amz-Signature=(\\w+)`);
}

/** What ends a URL in a text. */
const urlEnds = String.raw`\s"'<>,|`;
const hostPattern = String.raw`[^/\\?${urlEnds}]+`;

/** A part of a path as S3 encodes it. */
function inUrl(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
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
