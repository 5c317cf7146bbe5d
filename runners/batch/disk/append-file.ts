import { resolve } from 'node:path';
import { folderOf, writeAll, type Disk, type DiskFile } from './disk.js';
import { readAll } from './read-file.js';

/** A file that only grows. Not for two writers at once: the caller awaits one call before the next. */
export interface AppendFile {
  /** Where the next byte goes. */
  readonly end: number;
  /** Up to where the last successful `sync` reached: what a power cut leaves. */
  readonly synced: number;
  /** Writes all bytes at the end, in several writes if need be. On an error the file is cut back to `end`, which stays. */
  append(bytes: Uint8Array): Promise<void>;
  /** Syncs the data; then `synced` is `end`. */
  sync(): Promise<void>;
  /** Reads what is there; may read fewer bytes than asked, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Cuts the file to `size` bytes. */
  cutTo(size: number): Promise<void>;
  /** Whether the file ends where this process left it: no other program has written or cut it. */
  isIntact(): Promise<boolean>;
  /**
   * Whether the path still leads to this file, with all that was appended. False where it was moved, removed, or replaced,
   * also by a copy of itself.
   */
  isNamed(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Opens for appending; a missing file is made and its folder synced, so that the name survives as well.
 *
 * @param at Where to continue, if that is not the end of the file.
 */
export async function openAppendFile(disk: Disk, path: string, at?: number): Promise<AppendFile> {
  const isNew = (await disk.stat(path)) === undefined;
  const file = await disk.open(path, 'a+');
  try {
    if (isNew) await disk.syncFolder(folderOf(path));
    return appendTo(file, at ?? (await file.size()), new FileName(disk, resolve(path), file));
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

function appendTo(file: DiskFile, start: number, name: FileName): AppendFile {
  let end = start;
  let synced = start;
  return {
    get end() {
      return end;
    },
    get synced() {
      return synced;
    },
    async append(bytes) {
      try {
        await writeAll(file, bytes, end);
        end += bytes.length;
      } catch (error) {
        await file.truncate(end).catch(() => undefined);
        throw error;
      }
    },
    async sync() {
      await file.sync();
      synced = end;
    },
    async cutTo(size) {
      await file.truncate(size);
      end = size;
      synced = Math.min(synced, size);
    },
    read: (into, position) => file.read(into, position),
    isIntact: async () => (await file.size()) === end,
    isNamed: () => name.leadsTo(end),
    close: () => file.close(),
  };
}

/** The last bytes of a file identify it: they hold the checksum of what was written last. */
const tailBytes = 512;

/** The name of an open file: another program may give it to another file at any time. */
class FileName {
  private id: Promise<string | undefined> | undefined;

  constructor(
    private readonly disk: Disk,
    /** Absolute: a folder above it may be moved as well. */
    private readonly path: string,
    private readonly file: DiskFile,
  ) {}

  async leadsTo(size: number): Promise<boolean> {
    const found = await this.disk.stat(this.path);
    if (found === undefined || (found.kind === 'file' && found.size !== size)) return false;
    this.id ??= this.file.id?.() ?? Promise.resolve(undefined);
    const id = await this.id;
    if (found.id !== undefined && found.id === id) return true;
    // A link has a number of its own, and some file systems give a file another one each time.
    return this.hasTail(size);
  }

  private async hasTail(size: number): Promise<boolean> {
    const own = Buffer.alloc(Math.min(tailBytes, size));
    const found = Buffer.alloc(own.length);
    await readAll(this.file, own, size - own.length);
    const named = await this.disk.open(this.path, 'r');
    try {
      if ((await named.size()) !== size) return false;
      await readAll(named, found, size - found.length);
      return own.equals(found);
    } finally {
      await named.close();
    }
  }
}
