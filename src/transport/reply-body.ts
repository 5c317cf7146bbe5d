import type { IncomingHttpHeaders } from 'node:http';
import { decodeBody } from './decode-body.js';

/** A reply is cut off past so many bytes, before and after decompression. */
export const defaultMaxReplyBytes = 64 * 1024 * 1024;

/** Gathers the bytes of one reply up to a cap. */
export interface ReplyBody {
  /** False when these bytes pass the cap: the exchange is to be ended then. */
  add(chunk: Buffer): boolean;
  /** A plain body at once; a compressed one as a promise, which rejects with zlib's errors. */
  text(encoding: string | undefined): string | Promise<string>;
}

export function createReplyBody(maxBytes: number): ReplyBody {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add(chunk) {
      chunks.push(chunk);
      size += chunk.length;
      return size <= maxBytes;
    },
    text(encoding) {
      const [first] = chunks;
      const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks, size);
      return encoding === undefined || encoding === ''
        ? bytes.toString()
        : decodeBody(bytes, encoding, maxBytes);
    },
  };
}

/** Whether a reply announces more bytes than it may have. */
export function announcesMore(headers: IncomingHttpHeaders, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes;
}

/** Lower-case names, one text each. */
export function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  return flat;
}
