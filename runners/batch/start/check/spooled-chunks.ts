import { writeAll, type Disk, type DiskFile } from '../../disk/disk.js';
import { readAll } from '../../disk/read-file.js';

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

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
