import type { DownloadHead } from '../../../src/transport/got/download.js';
import { ArtifactError } from './artifact-error.js';

const range = /^bytes (\d+)-\d+\/(\d+|\*)$/;

/**
 * The version of a file whose first bytes have come, by what its host says of it: bytes of two versions never make one file.
 * A host that gives no strong validator (RFC 9110, 13.1.5) is asked for all of it again.
 */
export class FileVersion {
  /** What names the version in `If-Range`; `undefined`: nothing does. */
  validator: string | undefined;
  /** How long the whole file is, where the host has said so. */
  total: number | undefined;
  private taken: DownloadHead | undefined;

  /**
   * Takes in the head of a reply before its first bytes, and does nothing before later ones.
   *
   * @returns false where the reply brings the whole file, and the `length` bytes that are written are to be dropped
   * @throws {ArtifactError} where it brings other bytes than those that follow
   */
  goesOn(head: DownloadHead, length: number): boolean {
    if (head === this.taken) return true;
    this.taken = head;
    const { status, headers } = head;
    if (status !== 206) {
      this.validator = validatorOf(headers);
      const announced = headers['content-encoding'] === undefined ? headers['content-length'] : undefined;
      this.total = announced === undefined ? undefined : Number(announced);
      return length === 0;
    }
    const [, start, total = '*'] = range.exec(headers['content-range'] ?? '') ?? [];
    const isOfVersion = total === '*' || this.total === undefined || Number(total) === this.total;
    const named = validatorOf(headers) ?? this.validator;
    if (Number(start) !== length || !isOfVersion || named !== this.validator) {
      this.forget();
      throw new ArtifactError('its host sent other bytes than those that follow', { mayPass: true });
    }
    if (total !== '*') this.total = Number(total);
    return true;
  }

  /** The next try asks for the whole file. */
  forget(): void {
    this.validator = undefined;
    this.total = undefined;
  }
}

function validatorOf(headers: DownloadHead['headers']): string | undefined {
  const { etag, date = '' } = headers;
  const isEncoded = headers['content-encoding'] !== undefined;
  if (isEncoded || headers['accept-ranges'] === 'none') return undefined;
  if (etag !== undefined) return etag.startsWith('"') ? etag : undefined;
  const modified = headers['last-modified'] ?? '';
  // Within one second a file may change twice under one date.
  return Date.parse(date) - Date.parse(modified) >= 1000 ? modified : undefined;
}
