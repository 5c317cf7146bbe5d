import type { Disk, DiskFile } from './disk.js';

/** A file that only grows. Not for two writers at once: the caller awaits one call before the next. */
export interface AppendFile {
  /** Where the next byte goes. */
  readonly end: number;
  /** Up to where the last successful `sync` reached: what a power cut leaves. */
  readonly synced: number;
  /** Writes all bytes at the end; short writes are gone on with. On an error the file is cut back to `end`, and `end` stays. */
  append(bytes: Uint8Array): Promise<void>;
  /** Syncs the data; then `synced` is `end`. */
  sync(): Promise<void>;
  /** Reads what is there; may read fewer bytes than asked, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Cuts the file to `size` bytes. */
  cutTo(size: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens for appending; a missing file is made and its folder synced, so that the name survives as well.
 *
 * @param at Where to go on, when that is not the end of the file.
 */
export async function openAppendFile(disk: Disk, path: string, at?: number): Promise<AppendFile> {
  const isNew = (await disk.stat(path)) === undefined;
  const file = await disk.open(path, 'a+');
  try {
    if (isNew) await disk.syncFolder(folderOf(path));
    return appendTo(file, at ?? (await file.size()));
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

function appendTo(file: DiskFile, start: number): AppendFile {
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
    close: () => file.close(),
  };
}

/** Goes on after short writes. A write of nothing is an error: going on would never end. */
export async function writeAll(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const written = await file.write(bytes.subarray(done), position + done);
    if (written <= 0) throw Object.assign(new Error('the disk wrote no byte'), { code: 'EIO' });
    done += written;
  }
}

/** Both separators count, so that a Windows path works as well. */
export function folderOf(path: string): string {
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return cut < 0 ? '.' : path.slice(0, cut === 0 ? 1 : cut);
}
