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

const mostChunkBytes = 1 << 18;

function endsAt(position: number): Error {
  return Object.assign(new Error(`the file ends at byte ${position}`), { code: 'EIO' });
}

/** The value of a JSON text that a person may have edited; `undefined` if it is not valid JSON. */
export function valueOfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A sequence of whole lines, each ended by a newline; only the last block of a file may lack the final one. */
export interface LineBlock {
  /** Valid until the next block is requested. */
  readonly bytes: Buffer;
  /** Where the block begins in the file. */
  readonly offset: number;
}

export interface Line {
  /** Without its newline. Valid until the next line is requested. */
  readonly bytes: Buffer;
  /** Where the line begins in the file. */
  readonly offset: number;
  /** Whether a newline ended it: false only for the last line of a file. */
  readonly ended: boolean;
}

export interface ReadLinesOptions {
  /** First byte. @defaultValue 0 */
  readonly from?: number;
  /** The byte after the last one; the file may grow meanwhile. @defaultValue the end of the file */
  readonly to?: number;
  /** Bytes per read, after smaller first ones; a longer line takes more memory until it has been read. @defaultValue 1 MiB */
  readonly chunkBytes?: number;
}

/** Most files are short: with a large first block, starts that read the journals of many other runs spent a third of their time on freeing memory. */
const firstChunkBytes = 1 << 14;

const allLines = (): boolean => true;

const newline = 0x0a;

/**
 * The lines of a file, one after another, in constant memory. Only `\n` ends a line.
 *
 * @param wanted Lines for which it returns false are skipped, which takes a tenth of the time. @defaultValue all
 */
export async function* readLines(
  file: DiskFile,
  options: ReadLinesOptions = {},
  wanted: (bytes: Buffer) => boolean = allLines,
): AsyncGenerator<Line, void, void> {
  for await (const { bytes, offset } of readLineBlocks(file, options)) {
    let start = 0;
    while (start < bytes.length) {
      const at = bytes.indexOf(newline, start);
      const end = at < 0 ? bytes.length : at;
      const line = bytes.subarray(start, end);
      if (wanted(line)) yield { bytes: line, offset: offset + start, ended: at >= 0 };
      start = end + 1;
    }
  }
}

/** The lines of a file in large blocks, for a reader that has millions of lines to process. The next block is read meanwhile. */
export async function* readLineBlocks(
  file: Pick<DiskFile, 'read'>,
  { from = 0, to = Number.MAX_SAFE_INTEGER, chunkBytes = 1 << 20 }: ReadLinesOptions = {},
): AsyncGenerator<LineBlock, void, void> {
  let wanted = Math.min(firstChunkBytes, chunkBytes);
  let buffer: Buffer = Buffer.allocUnsafeSlow(wanted);
  let spare: Buffer | undefined;
  let held = 0;
  let offset = from;
  const readOn = (): Promise<number> => {
    const room = Math.min(buffer.length - held, to - offset - held);
    const count =
      room > 0 ? file.read(buffer.subarray(held, held + room), offset + held) : Promise.resolve(0);
    // The error is reported when the next block is requested.
    count.catch(() => undefined);
    return count;
  };
  let reading = readOn();
  try {
    for (;;) {
      const count = await reading;
      const filled = held + count;
      if (count === 0) {
        if (filled > 0) yield { bytes: buffer.subarray(0, filled), offset };
        return;
      }
      const whole = buffer.subarray(held, filled).lastIndexOf(newline) + 1 + held;
      let block: LineBlock | undefined;
      if (whole > held) {
        block = { bytes: buffer.subarray(0, whole), offset };
        if (filled === buffer.length) wanted = Math.min(8 * wanted, chunkBytes);
        const next = withRest(buffer.subarray(whole, filled), buffer.length, { spare, wanted });
        [spare, buffer] = [buffer, next];
        offset += whole;
        held = filled - whole;
      } else {
        held = filled;
        if (held === buffer.length) buffer = grown(buffer);
      }
      reading = readOn();
      if (block !== undefined) yield block;
    }
  } finally {
    // Wait, so that the file may be closed and the buffer is no longer written to.
    await reading.catch(() => 0);
  }
}

/**
 * Copies the bytes after the last newline to the beginning of another buffer. A buffer that grew for one long line is
 * not reused.
 */
function withRest(
  rest: Buffer,
  length: number,
  { spare, wanted }: { readonly spare: Buffer | undefined; readonly wanted: number },
): Buffer {
  const size = rest.length < wanted ? wanted : length;
  const next = spare?.length === size ? spare : Buffer.allocUnsafeSlow(size);
  rest.copy(next);
  return next;
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafeSlow(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}
