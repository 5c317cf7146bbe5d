import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Unpacks a gzip stream, all its parts one after the other. Errors are zlib's, with a `code` that begins with `Z_`. */
export function gunzipBytes(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(Readable.from(bytes, { objectMode: false }), gunzip, () => {
    // The reader of gunzip sees the error: pipeline has destroyed it with it.
  });
  return gunzip as AsyncIterable<Uint8Array>;
}
