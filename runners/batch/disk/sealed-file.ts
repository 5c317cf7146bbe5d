import { crc32 } from 'node:zlib';
import type { DiskFile } from './disk.js';
import { fileChunks, readAll } from './read-file.js';

/**
 * Bytes of the numbers at both ends of the file, little-endian: the header's length at the beginning, the file's CRC-32
 * at the end.
 */
const numberBytes = 4;

/** The content of a file that is only used if it is whole: a header as JSON, bytes, and the CRC-32 of both. */
export async function* sealed(
  header: object,
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let checksum = 0;
  const text = Buffer.from(JSON.stringify(header));
  for (const part of [[numberAsBytes(text.length), text], body])
    for await (const bytes of part) {
      checksum = crc32(bytes, checksum);
      yield bytes;
    }
  yield numberAsBytes(checksum);
}

export interface SealedFile<Header> {
  readonly header: Header;
  /** Fills `into` with the next bytes after the header. */
  readonly fill: (into: Uint8Array) => Promise<void>;
}

/** Opens a file with the content of `sealed`. `undefined` if its checksum is not right. */
export async function openSealed<Header>(file: DiskFile): Promise<SealedFile<Header> | undefined> {
  const end = (await file.size()) - numberBytes;
  if (end < numberBytes || (await checksumOf(file, end)) !== (await numberAt(file, end))) return undefined;
  const { header, headerEnd } = await readHeader<Header>(file);
  let position = headerEnd;
  return {
    header,
    fill: async (into) => {
      await readAll(file, into, position);
      position += into.length;
    },
  };
}

/** Reads only the header, and returns also the position after it. The checksum is not compared. */
export async function readHeader<Header>(
  file: DiskFile,
): Promise<{ readonly header: Header; readonly headerEnd: number }> {
  const headerEnd = numberBytes + (await numberAt(file, 0));
  if (headerEnd > (await file.size())) throw new RangeError('the header is longer than the file');
  const text = Buffer.alloc(headerEnd - numberBytes);
  await readAll(file, text, numberBytes);
  return { header: JSON.parse(text.toString()) as Header, headerEnd };
}

/** CRC-32 of the first bytes of a file. */
export async function checksumOf(file: DiskFile, end: number): Promise<number> {
  let checksum = 0;
  for await (const bytes of fileChunks(file, end)) checksum = crc32(bytes, checksum);
  return checksum;
}

async function numberAt(file: DiskFile, position: number): Promise<number> {
  const bytes = Buffer.alloc(numberBytes);
  await readAll(file, bytes, position);
  return bytes.readUInt32LE();
}

function numberAsBytes(value: number): Buffer {
  const bytes = Buffer.alloc(numberBytes);
  bytes.writeUInt32LE(value);
  return bytes;
}
