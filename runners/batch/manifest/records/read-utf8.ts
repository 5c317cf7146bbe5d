import { DiskFault } from '../../disk/disk-fault.js';
import { ManifestChangedError, ManifestError } from '../manifest-error.js';
import { TextGuard } from './text-guard.js';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Larger chunks of the source are sliced, which limits how many rows are in memory. */
const sliceBytes = 16_384;

/**
 * The manifest's bytes as checked UTF-8 text; gzip is unpacked. If the file is cut off, is not text or cannot be read, throws
 * `ManifestError` with the line.
 */
export async function* readUtf8(
  bytes: AsyncIterable<Uint8Array>,
  source: { readonly name: string; readonly gzip: boolean },
): AsyncGenerator<Buffer> {
  const guard = new TextGuard(source.name);
  const packed = new PackedBytes(bytes);
  let empty = true;
  try {
    for await (const chunk of source.gzip ? gunzipBytes(packed) : bytes) {
      for (let at = 0; at < chunk.length; at += sliceBytes) {
        empty = false;
        const text = guard.accept(chunk.subarray(at, at + sliceBytes));
        if (text.length > 0) yield text;
      }
    }
  } catch (error) {
    throw asManifestError(error, source.name, { line: guard.line, isPacked: packed.isPacked });
  }
  if (empty)
    throw new ManifestError(
      source.name,
      'is empty: it needs rows, and a CSV a first line that names the columns',
    );
  const rest = guard.finish();
  if (rest.length > 0) yield rest;
}

class PackedBytes implements AsyncIterable<Uint8Array> {
  /** Whether the first bytes are those of gzip. */
  isPacked = false;

  constructor(private readonly bytes: AsyncIterable<Uint8Array>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const head: number[] = [];
    for await (const chunk of this.bytes) {
      if (head.length < 2) head.push(...chunk.subarray(0, 2));
      this.isPacked = head[0] === 0x1f && head[1] === 0x8b;
      yield chunk;
    }
  }
}

/** zlib's messages about the beginning of packed data. */
const isAboutHeader = /header|compression method/;

function asManifestError(
  error: unknown,
  name: string,
  { line, isPacked }: { readonly line: number; readonly isPacked: boolean },
): ManifestError {
  if (error instanceof ManifestChangedError) return error.from(line);
  if (error instanceof ManifestError) return error;
  if (error instanceof DiskFault)
    return new ManifestError(name, `cannot be read: ${error.reason}`, { cause: error });
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== 'string' || !code.startsWith('Z_'))
    return new ManifestError(name, `cannot be read: ${String(message)}`, { cause: error });
  if (code === 'Z_BUF_ERROR')
    return new ManifestError(
      name,
      'the gzip data is cut short here, or a byte follows its end; copy or pack the file again',
      {
        line,
        cause: error,
      },
    );
  // The reader may be many lines behind the bytes that zlib has seen, so no line is named.
  if (isAboutHeader.test(String(message)))
    return new ManifestError(
      name,
      isPacked
        ? 'something else follows the end of the gzip data; copy or pack the file again'
        : 'is not gzip data; pack it, or give it a name without .gz',
      { cause: error },
    );
  return new ManifestError(name, `the gzip data is damaged here (${String(message)}); pack the file again`, {
    line,
    cause: error,
  });
}

/** Unpacks a gzip stream of one or more members. Throws zlib's errors, whose `code` begins with `Z_`. */
function gunzipBytes(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(Readable.from(bytes, { objectMode: false }), gunzip, () => {
    // The reader of gunzip gets the error, because `pipeline` destroys gunzip with it.
  });
  return gunzip as AsyncIterable<Uint8Array>;
}
