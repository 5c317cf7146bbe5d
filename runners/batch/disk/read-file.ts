import type { Disk, DiskFile } from './disk.js';

/** Opens a file for reading, and closes it when `work` has ended. */
export async function withFile<T>(
  disk: Disk,
  path: string,
  work: (file: DiskFile) => Promise<T>,
): Promise<T> {
  const file = await disk.open(path, 'r');
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** The first `size` bytes of a file; fewer if the file is shorter. */
export function readFile(disk: Disk, path: string, size: number): Promise<Buffer> {
  return withFile(disk, path, async (file) => {
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, await readUpTo(file, bytes, 0));
  });
}

/** Fills `into` with the bytes from `position` on. Returns how many there were: fewer than asked at the file's end. */
export async function readUpTo(
  file: Pick<DiskFile, 'read'>,
  into: Uint8Array,
  position: number,
): Promise<number> {
  let done = 0;
  for (let count = 1; count > 0 && done < into.length; done += count)
    count = await file.read(into.subarray(done), position + done);
  return done;
}

/** Fills `into` with the bytes from `position` on; a file that ends before that is an error (EIO). */
export async function readAll(
  file: Pick<DiskFile, 'read'>,
  into: Uint8Array,
  position: number,
): Promise<void> {
  const count = await readUpTo(file, into, position);
  if (count < into.length) throw endsAt(position + count);
}

/**
 * The bytes of a file from its beginning, chunk by chunk. A chunk is valid until the next one is read.
 *
 * @param to Where to stop: a file that ends before is an error (EIO). @defaultValue the end of the file
 */
export async function* fileChunks(
  file: Pick<DiskFile, 'read'>,
  to?: number,
): AsyncGenerator<Buffer, void, void> {
  const chunk = Buffer.allocUnsafeSlow(Math.min(mostChunkBytes, to ?? mostChunkBytes));
  for (let position = 0; position !== to;) {
    const wanted = chunk.subarray(0, Math.min(chunk.length, (to ?? Infinity) - position));
    const count = await readUpTo(file, wanted, position);
    if (to !== undefined && count < wanted.length) throw endsAt(position + count);
    if (count === 0) return;
    yield wanted.subarray(0, count);
    position += count;
  }
}

const mostChunkBytes = 1 << 20;

function endsAt(position: number): Error {
  return Object.assign(new Error(`the file ends at byte ${position}`), { code: 'EIO' });
}

/** The value of a JSON text that a person may have edited; `undefined` where it is none. */
export function valueOfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
