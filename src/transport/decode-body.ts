import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';

/** What we can read, and so what we ask for. */
export const acceptEncoding = 'gzip, deflate, br';

/**
 * The text of a body, decompressed up to `maxBytes`: past it, zlib's `ERR_BUFFER_TOO_LARGE` is thrown before the rest
 * is inflated. An encoding we never asked for is left as it is.
 */
export async function decodeBody(bytes: Buffer, encoding: string, maxBytes: number): Promise<string> {
  const decompress = decompressor(encoding.trim().toLowerCase(), bytes);
  return (decompress ? await decompress(bytes, { maxOutputLength: maxBytes }) : bytes).toString();
}

type Decompress = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

function decompressor(encoding: string, bytes: Buffer): Decompress | undefined {
  if (bytes.length === 0) return undefined;
  if (encoding === 'gzip' || encoding === 'x-gzip') return promisify(gunzip);
  if (encoding === 'br') return promisify(brotliDecompress);
  // Some servers send raw deflate; a zlib header says 8 in its low half.
  if (encoding === 'deflate') return promisify(((bytes[0] ?? 0) & 15) === 8 ? inflate : inflateRaw);
  return undefined;
}
