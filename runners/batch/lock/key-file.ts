import type { Disk, DiskFile, FileAtOnce } from '../disk/disk.js';
import { readUpTo } from '../disk/read-file.js';
import { HashTable } from '../manifest/duplicates/hash-table.js';
import { hashWord } from '../manifest/request-hash.js';

/** Marks a key that is taken back. */
export const takenBack = 1;
const keyBytes = 8;
const wordsRead = 1 << 14;

/** 63 bits of a request's hash in two halves; the last bit is free for `takenBack`. */
export function requestKey(hash: string): { readonly high: number; readonly low: number } {
  return { high: hashWord(hash, 0), low: (hashWord(hash, 8) & ~takenBack) >>> 0 };
}

/** The last key may be written in part. */
export function wholeKeys(bytes: number): number {
  return bytes - (bytes % keyBytes);
}

/** A file to which keys are added, without a turn of the event loop: it costs some microseconds for each row. */
export class KeyFile {
  readonly #file: FileAtOnce;

  /**
   * @param first what a new file begins with
   * @throws the disk's error
   */
  constructor(disk: Disk, path: string, first?: Uint8Array) {
    if (disk.atOnce === undefined) throw new Error('this disk appends nothing at once');
    this.#file = disk.atOnce.open(path);
    if (first !== undefined) this.#file.append(first);
    // The end of the last key may have been lost with the power.
    else this.#file.truncate(wholeKeys(this.#file.size()));
  }

  /** Returns false if the disk does not take them; then none is added. */
  add(keys: Uint32Array): boolean {
    if (keys.length === 0) return true;
    try {
      const written = this.#file.append(new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength));
      if (written === keys.byteLength) return true;
      this.#file.truncate(this.#file.size() - written);
    } catch {
      // It may be full, and has written none.
    }
    return false;
  }

  close(): void {
    this.#file.close();
  }
}

/** The keys of such files: those that were added more often than taken back. */
export class KeyCounts {
  /** By each key: one more than how often it is there, because a table has no zeros. */
  readonly #counts = new HashTable();
  #words: Uint32Array<ArrayBuffer> | undefined;

  /** @param onChange called when a key is there that was not, with 1, and the other way round, with -1 */
  constructor(private readonly onChange?: (low: number, by: 1 | -1) => void) {}

  has(high: number, low: number): boolean {
    return this.#counts.get(high, low) > 1;
  }

  /** Reads on to the end of the file, and moves `read`, the position up to which it was read. */
  async readOn(place: { readonly file: DiskFile; read: number }): Promise<void> {
    const words = (this.#words ??= new Uint32Array(wordsRead));
    const bytes = new Uint8Array(words.buffer);
    for (let whole = bytes.length; whole === bytes.length;) {
      whole = wholeKeys(await readUpTo(place.file, bytes, place.read));
      for (let at = 0; at < whole / 4; at += 2) this.#take(words[at] ?? 0, words[at + 1] ?? 0);
      place.read += whole;
    }
  }

  #take(high: number, word: number): void {
    const low = (word & ~takenBack) >>> 0;
    const before = Math.max(this.#counts.get(high, low), 1);
    const now = Math.max((word & takenBack) === 0 ? before + 1 : before - 1, 1);
    this.#counts.set(high, low, now);
    if (now > 1 !== before > 1) this.onChange?.(low, now > 1 ? 1 : -1);
  }
}
