import { writeAll, type Disk, type DiskFile } from '../../disk/disk.js';
import { readAll } from '../../disk/read-file.js';
import type { EachHash } from '../../manifest/duplicates/fingerprint-list.js';

/** Chunks of words that wait in a file, made with the first one: there they take no memory. An error of the disk is that of `read`. */
export class SpooledChunks {
  #count = 0;
  #file: Promise<DiskFile> | undefined;
  #written: Promise<unknown> = Promise.resolve();
  /** Written, and to be filled again. */
  readonly #free: Uint32Array[] = [];

  /** @param path what stands there is taken away */
  constructor(
    private readonly disk: Pick<Disk, 'open' | 'unlink'>,
    private readonly path: string,
  ) {}

  /** Takes a full chunk. Returns one to be filled next, of the same length. */
  swap(full: Uint32Array): Uint32Array {
    const at = full.byteLength * this.#count++;
    const opened = (this.#file ??= this.#open());
    this.#written = this.#written
      .then(async () => writeAll(await opened, bytesOf(full), at))
      .then(() => this.#free.push(full));
    // It is awaited by `read`, or not at all.
    this.#written.catch(() => undefined);
    return this.#free.pop() ?? new Uint32Array(full.length);
  }

  /** Fills `into` with the chunk that was taken as so manieth. */
  async read(index: number, into: Uint32Array): Promise<void> {
    await this.#written;
    const file = await this.#file;
    if (file !== undefined) await readAll(file, bytesOf(into), index * into.byteLength);
  }

  /** Takes the file away. */
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

/** 64-bit hashes, each with one 32-bit word more or none, in chunks: growing never copies. */
export class HashList {
  length = 0;
  readonly #full: Uint32Array[] = [];
  #chunk: Uint32Array;

  /**
   * @param words of each entry
   * @param spool where full chunks wait. @defaultValue memory
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

  /** All entries side by side, chunk by chunk. Each is good until the next one is asked for. */
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

  /** Passes on the hash of each entry. */
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

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
