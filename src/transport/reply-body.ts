import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import type { Subscriber } from 'rxjs';
import type { WireReply } from './transport.js';

/** Collects the bytes of one reply up to a cap. */
export class ReplyBody {
  /** Most replies are one chunk. */
  private chunks: Buffer[] | undefined;
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  /** Returns false if the reply is now longer than the cap: the caller must end the exchange. */
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

/** Headers with one text for each lower-case name. Returns the same object if it has this form already. */
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

/**
 * Emits a reply once all replies that have arrived are read, so that the subscriber's work, often a request, does not delay
 * them.
 */
export function emitLater(to: Subscriber<WireReply>, reply: WireReply): void {
  setImmediate(() => {
    to.next(reply);
    to.complete();
  });
}

/** The encodings that requests accept: those that `decodeBody` can read. */
export const acceptEncoding = 'gzip, deflate, br';

/**
 * The text of a body, decompressed. Beyond `maxBytes` it throws zlib's `ERR_BUFFER_TOO_LARGE`, before the rest is decompressed.
 * A body with any other encoding is not changed.
 */
async function decodeBody(bytes: Buffer, encoding: string, maxBytes: number): Promise<string> {
  const decompress = decompressor(encoding.trim().toLowerCase(), bytes);
  return (decompress ? await decompress(bytes, { maxOutputLength: maxBytes }) : bytes).toString();
}

type Decompress = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

function decompressor(encoding: string, bytes: Buffer): Decompress | undefined {
  if (bytes.length === 0) return undefined;
  if (encoding === 'gzip' || encoding === 'x-gzip') return promisify(gunzip);
  if (encoding === 'br') return promisify(brotliDecompress);
  // Some servers send raw deflate. A zlib header begins with a byte whose lower half is 8.
  if (encoding === 'deflate') return promisify(((bytes[0] ?? 0) & 15) === 8 ? inflate : inflateRaw);
  return undefined;
}
