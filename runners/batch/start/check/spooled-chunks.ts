import { writeAll, type Disk, type DiskFile } from '../../disk/disk.js';
import { readAll } from '../../disk/read-file.js';
import { bytesOf } from '../../journal/rows/column.js';
import type { EachHash } from '../../manifest/duplicates/hash-table.js';

/**
 * Chunks of words that are stored in a file instead of memory; the file is created with the first chunk. `read` throws
 * any disk error.
 */
export class SpooledChunks {
  #count = 0;
  #file: Promise<DiskFile> | undefined;
  #written: Promise<unknown> = Promise.resolve();
  /** Chunks that have been written and can be filled again. */
  readonly #free: Uint32Array[] = [];

  /** @param path an existing file there is removed */
  constructor(
    private readonly disk: Pick<Disk, 'open' | 'unlink'>,
    private readonly path: string,
  ) {}

  /** Takes a full chunk, and returns one of the same length to be filled next. */
  swap(full: Uint32Array): Uint32Array {
    const at = full.byteLength * this.#count++;
    const opened = (this.#file ??= this.#open());
    this.#written = this.#written
      .then(async () => writeAll(await opened, bytesOf(full), at))
      .then(() => this.#free.push(full));
    // `read` reports the error.
    this.#written.catch(() => undefined);
    return this.#free.pop() ?? new Uint32Array(full.length);
  }

  /** Fills `into` with the chunk of this index, in the order of the `swap` calls. */
  async read(index: number, into: Uint32Array): Promise<void> {
    await this.#written;
    const file = await this.#file;
    if (file !== undefined) await readAll(file, bytesOf(into), index * into.byteLength);
  }

  async close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined);
    await this.#written.catch(() => undefined);
    await file?.close().catch(() => undefined);
    if (file !== undefined) await this.disk.unlink(this.path).catch(() => undefined);
  }

  async #open(): Promise<DiskFile> {
    await this.disk.unlink(this.path).catch(() => undefined);
    return this.disk.open(this.path, 'wx');
  }
}

const chunkEntries = 1 << 12;

/** A list of 64-bit hashes, each with an optional 32-bit word, in chunks so that growing never copies. */
export class HashList {
  length = 0;
  readonly #full: Uint32Array[] = [];
  #chunk: Uint32Array;

  /**
   * @param words number of 32-bit words per entry
   * @param spool where full chunks are stored. @defaultValue memory
   */
  constructor(
    private readonly words: 2 | 3,
    private readonly spool?: SpooledChunks,
  ) {
    this.#chunk = new Uint32Array(words * chunkEntries);
  }

  add(high: number, low: number, more = 0): void {
    const at = this.words * (this.length % chunkEntries);
    if (at === 0 && this.length > 0) this.#beginChunk();
    const chunk = this.#chunk;
    chunk[at] = high;
    chunk[at + 1] = low;
    if (this.words > 2) chunk[at + 2] = more;
    this.length++;
  }

  /** All entries side by side, chunk by chunk. Each chunk is valid until the next one is requested. */
  async *chunks(): AsyncGenerator<Uint32Array, void, void> {
    yield* this.#full;
    const last = this.length % chunkEntries || Math.min(this.length, chunkEntries);
    if (this.spool !== undefined) {
      const chunk = new Uint32Array(this.#chunk.length);
      for (let index = 0; index * chunkEntries < this.length - last; index++) {
        await this.spool.read(index, chunk);
        yield chunk;
      }
    }
    yield this.#chunk.subarray(0, this.words * last);
  }

  /** Calls back with the hash of each entry. */
  readonly eachHash: EachHash = async (take) => {
    for await (const chunk of this.chunks())
      for (let at = 0; at < chunk.length; at += this.words) take(chunk[at] ?? 0, chunk[at + 1] ?? 0);
  };

  #beginChunk(): void {
    const full = this.#chunk;
    if (this.spool !== undefined) this.#chunk = this.spool.swap(full);
    else {
      this.#full.push(full);
      this.#chunk = new Uint32Array(full.length);
    }
  }
}
