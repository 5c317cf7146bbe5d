import { resolve } from 'node:path';
import { folderOf, writeAll, type Disk, type DiskFile } from './disk.js';
import { readAll } from './read-file.js';

/** A file that only grows. It has one writer, which awaits each call before the next. */
export interface AppendFile {
  /** The position of the next byte. */
  readonly end: number;
  /** The position up to which the last `sync` made the file durable. */
  readonly synced: number;
  /** Writes all bytes at the end, in several writes if necessary. On an error the file is cut back to `end`, which stays. */
  append(bytes: Uint8Array): Promise<void>;
  /** Makes the data durable; then `synced` is `end`. */
  sync(): Promise<void>;
  /** May read fewer bytes than asked for; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  cutTo(size: number): Promise<void>;
  /** Whether the file ends where this process left it: no other program has appended to it or cut it. */
  isIntact(): Promise<boolean>;
  /**
   * Whether the path still leads to this file, with all that was appended. False if it was moved, removed or replaced,
   * even by a copy of itself.
   */
  isNamed(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Opens a file for appending. A missing file is created and its folder synced, so that the name is durable as well.
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

/** The last bytes of a file identify it: they contain the checksum of the last record. */
const tailBytes = 512;

/** The name of an open file, which another program may give to another file at any time. */
class FileName {
  private id: Promise<string | undefined> | undefined;

  constructor(
    private readonly disk: Disk,
    /** Absolute, because a folder above it may be moved as well. */
    private readonly path: string,
    private readonly file: DiskFile,
  ) {}

  async leadsTo(size: number): Promise<boolean> {
    const found = await this.disk.stat(this.path);
    if (found === undefined || (found.kind === 'file' && found.size !== size)) return false;
    this.id ??= this.file.id?.() ?? Promise.resolve(undefined);
    const id = await this.id;
    if (found.id !== undefined && found.id === id) return true;
    // The ids differ for a link, and some file systems give a file a new one each time.
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
