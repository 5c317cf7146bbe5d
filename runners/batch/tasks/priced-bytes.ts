import { crc32 } from 'node:zlib';
import type { Disk, DiskFile } from '../disk/disk.js';
import { onDisk } from '../disk/disk-fault.js';
import { readUpTo } from '../disk/read-file.js';
import { Column } from '../journal/rows/column.js';
import { ManifestChangedError, ManifestError } from '../manifest/manifest-error.js';
import { SectionFinder, type LeftOut, type SectionStart } from '../manifest/records/manifest-sections.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';

const blockBytes = 1 << 16;

/**
 * The bytes of a manifest as the first pass found them: their number, and a CRC-32 of each 64 kB. Every later pass ends
 * after that number of bytes, and compares each 64 kB before passing them on: no row is created from a byte that was
 * not checked and priced. Bytes that were appended since are left for the next start. Takes 4 bytes per 64 kB.
 */
export class PricedBytes {
  /** The parts that later passes leave out: rows that a start need not read. */
  leftOut: readonly LeftOut[] = [];
  #sections: SectionFinder | undefined;
  readonly #sums = new Column(Uint32Array);
  /** The last block of the first pass: its checksum is computed only when it is needed, which it never is for a short plan. */
  #unsummed: { readonly index: number; readonly block: Uint8Array } | undefined;
  #length: number | undefined;
  #endsInLine = false;
  #growth: Growth | undefined;

  /** The bytes that were appended after the priced ones, as of the last pass; `undefined` if there are none. */
  get growth(): Growth | undefined {
    return this.#growth;
  }

  /** The results of the first pass as plain values; `undefined` until it has ended. */
  get found(): FoundBytes | undefined {
    const length = this.#length;
    if (length === undefined) return undefined;
    const blocks = Math.floor(length / blockBytes) + 1;
    return { length, sums: Array.from({ length: blocks }, (_, block) => this.#sumOf(block)) };
  }

  /** The beginnings of sections of whole rows, as far as the first pass has come. */
  get sections(): readonly SectionStart[] {
    return this.#sections?.starts ?? [];
  }

  /** Reads the file to its end, like `read`, without using the content and without finding sections; a later pass finds those. */
  async look(disk: Pick<Disk, 'open'>, path: string, source: BytesSource): Promise<FoundBytes | undefined> {
    const reading = this.read(disk, path, source, Buffer.allocUnsafeSlow(blockBytes));
    while ((await reading.next()).done !== true) continue;
    this.#sumLast();
    return this.found;
  }

  /**
   * Reads the file. Later passes must find the same bytes as the first one.
   *
   * @param source its `name` is used in messages
   * @param into buffer into which each block of a first pass is read, overwriting the previous one. @defaultValue a new
   *   buffer for each block
   * @throws {ManifestChangedError} if a later pass finds other bytes
   */
  async *read(
    disk: Pick<Disk, 'open'>,
    path: string,
    source: BytesSource,
    into?: Buffer,
  ): AsyncGenerator<Uint8Array> {
    const { name } = source;
    const isLater = this.#length !== undefined;
    const file = await disk.open(path, 'r').catch((cause: unknown) => {
      const { code, message } = cause as NodeJS.ErrnoException;
      if (isLater && code === 'ENOENT') throw new ManifestChangedError(name, 'the file is gone');
      throw new ManifestError(name, `cannot be read: ${message}`, { cause });
    });
    try {
      yield* this.#length === undefined
        ? this.#first(path, file, source, into)
        : this.#again(path, file, { source, length: this.#length });
    } finally {
      await file.close().catch(() => undefined);
    }
  }

  async *#first(
    path: string,
    file: DiskFile,
    source: BytesSource,
    into: Buffer | undefined,
  ): AsyncGenerator<Uint8Array> {
    const sections = into === undefined ? (this.#sections = new SectionFinder(source)) : undefined;
    let length = 0;
    for (let index = 0; ; index++) {
      this.#sumLast();
      const block = await readBlock(path, file, length, into ?? Buffer.allocUnsafeSlow(blockBytes));
      if (block.length > 0) this.#endsInLine = !isBreak(block.at(-1));
      this.#unsummed = { index, block };
      length += block.length;
      sections?.take(block);
      if (block.length > 0) yield block;
      if (block.length < blockBytes) break;
    }
    this.#length = length;
  }

  #sumOf(block: number): number {
    this.#sumLast();
    return this.#sums.get(block);
  }

  #sumLast(): void {
    if (this.#unsummed !== undefined) this.#sums.set(this.#unsummed.index, crc32(this.#unsummed.block));
    this.#unsummed = undefined;
  }

  async *#again(
    path: string,
    file: DiskFile,
    { source, length }: { readonly source: BytesSource; readonly length: number },
  ): AsyncGenerator<Uint8Array> {
    const { name } = source;
    const isWhole = this.#sections === undefined && this.leftOut.length === 0;
    const sections = isWhole ? (this.#sections = new SectionFinder(source)) : undefined;
    for (let at = 0; at < length; at += blockBytes) {
      const wanted = Math.min(blockBytes, length - at);
      if (this.leftOut.some(({ from, to }) => from <= at && to >= at + wanted)) continue;
      const block = await readBlock(path, file, at, Buffer.allocUnsafeSlow(wanted));
      if (block.length < wanted) throw new ManifestChangedError(name, 'the file is shorter than it was');
      if (crc32(block) !== this.#sumOf(at / blockBytes))
        throw new ManifestChangedError(name, 'the file is no longer what it was: it was edited or replaced');
      sections?.take(block);
      yield* without(block, at, this.leftOut);
    }
    const more = await readBlock(path, file, length, Buffer.allocUnsafe(1));
    const size = more.length === 0 ? length : await onDisk(path, () => file.size());
    this.#growth =
      size <= length
        ? undefined
        : { bytes: size - length, isInLine: this.#endsInLine && !isBreak(more.at(0)) };
  }
}

/** The name is used in messages. */
type BytesSource = Pick<ManifestSettings, 'name' | 'format' | 'gzip'>;

/** The parts of a block, which begins at byte `at`, that are not left out. */
function* without(block: Uint8Array, at: number, leftOut: readonly LeftOut[]): Generator<Uint8Array> {
  let from = 0;
  for (const out of leftOut) {
    const [start, end] = [out.from - at, out.to - at];
    if (end <= from || start >= block.length) continue;
    if (start > from) yield block.subarray(from, start);
    from = end;
  }
  if (from < block.length) yield block.subarray(from);
}

/** The length of a manifest, and the CRC-32 of each 64 kB of it. */
export interface FoundBytes {
  readonly length: number;
  readonly sums: readonly number[];
}

/** Bytes that were appended to a manifest after it was priced. */
export interface Growth {
  readonly bytes: number;
  /** They begin within a line: the last row was priced before its line was complete. */
  readonly isInLine: boolean;
}

/** Fills `block` with the bytes from `position` on, up to the end of the file. */
async function readBlock(path: string, file: DiskFile, position: number, block: Buffer): Promise<Uint8Array> {
  return block.subarray(0, await onDisk(path, () => readUpTo(file, block, position)));
}

function isBreak(byte: number | undefined): boolean {
  return byte === 10 || byte === 13;
}
