import type { IncomingHttpHeaders } from 'node:http';
import { decodeBody } from './decode-body.js';

/** A reply is cut off past so many bytes, before and after decompression. */
export const defaultMaxReplyBytes = 64 * 1024 * 1024;

/** Gathers the bytes of one reply up to a cap. */
export class ReplyBody {
  /** Most replies are one. */
  private chunks: Buffer[] | undefined;
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  /** False when these bytes pass the cap: the exchange is to be ended then. */
  add(chunk: Buffer): boolean {
    if (this.chunks === undefined) this.chunks = [chunk];
    else this.chunks.push(chunk);
    this.size += chunk.length;
    return this.size <= this.maxBytes;
  }

  /** A plain body at once; a compressed one as a promise, which rejects with zlib's errors. */
  text(encoding: string | undefined): string | Promise<string> {
    const { chunks = [], size, maxBytes } = this;
    const [first] = chunks;
    const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks, size);
    return encoding === undefined || encoding === ''
      ? bytes.toString()
      : decodeBody(bytes, encoding, maxBytes);
  }
}

/** Whether a reply announces more bytes than it may have. */
export function announcesMore(headers: IncomingHttpHeaders, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes;
}

/** Lower-case names, one text each: as they came where that is so. */
export function flatHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  if (isFlat(headers)) return headers;
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  return flat;
}

function isFlat(headers: IncomingHttpHeaders): headers is Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== 'string') return false;
  return true;
}
