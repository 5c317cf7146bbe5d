import { basename, dirname, join } from 'node:path';

/**
 * The interface to the file system for everything that a run reads and writes. The real one is `nodeDisk`; tests use
 * one that fails or loses unsynced data. Errors are Node's, with their `code` (ENOSPC, EIO …).
 */
export interface Disk {
  /**
   * `r`: must exist. `r+`: read and write, must exist. `a+`: read and write, created if missing. `wx`: must not exist.
   * `mode` is for a new file.
   */
  open(path: string, flags: 'r' | 'r+' | 'a+' | 'wx', mode?: number): Promise<DiskFile>;
  /** Replaces an existing file. */
  rename(from: string, to: string): Promise<void>;
  /** The file must exist. */
  unlink(path: string): Promise<void>;
  /** With parents; no error if it exists. */
  mkdir(path: string): Promise<void>;
  /** Names in a folder; an empty list if the folder is missing. */
  list(path: string): Promise<string[]>;
  /**
   * `undefined` if it is missing. Follows no link. `id` is the same for all names of one file, and no other file has it
   * while this one is open (device and inode); absent if the file system has none.
   */
  stat(path: string): Promise<DiskEntry | undefined>;
  /** The absolute path with links resolved; if nothing is there, the given path, made absolute. */
  realPath(path: string): Promise<string>;
  /**
   * How much this user can still write to the disk of a folder, in bytes; `undefined` if it is not known. @defaultValue
   * never known
   */
  freeBytes?(path: string): Promise<number | undefined>;
  /** Makes a rename or a new file in this folder survive a power cut. */
  syncFolder(path: string): Promise<void>;
  /**
   * What is done for each row, without a turn of the event loop. @defaultValue none: what runs of this machine send and buy is not
   * noted for others
   */
  readonly atOnce?: DiskAtOnce;
}

/** Calls that return when they are done, and throw like those of `Disk`. */
export interface DiskAtOnce {
  /** Opens a file for appending; it is created if it is missing. */
  open(path: string): FileAtOnce;
  /** Like `Disk.list`. */
  list(path: string): string[];
}

/** A file that is open for appending. Sizes in bytes. */
export interface FileAtOnce {
  /** Appends, and may append fewer bytes than given. Returns how many. */
  append(bytes: Uint8Array): number;
  /** The current size. */
  size(): number;
  /** Cuts the file to `size` bytes. */
  truncate(size: number): void;
  /** Closes the descriptor. */
  close(): void;
}

export interface DiskEntry {
  readonly size: number;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly id?: string;
}

/** An open file. Positions and sizes in bytes. */
export interface DiskFile {
  /** May read fewer bytes than asked for; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** May write fewer bytes than given: the caller writes the rest. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** Like fdatasync. */
  sync(): Promise<void>;
  /** Cuts the file to `size` bytes. */
  truncate(size: number): Promise<void>;
  /** The current size in bytes. */
  size(): Promise<number>;
  /** The `id` that `stat` gives for a name of this file. @defaultValue not known */
  id?(): Promise<string | undefined>;
  /** Closes the descriptor. */
  close(): Promise<void>;
}

/** Continues after short writes. A write of 0 bytes is an error, because the loop would never end. */
export async function writeAll(
  file: Pick<DiskFile, 'write'>,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
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

/** The real path of a folder which may be missing, and folders above it, too. */
export async function realPlace(disk: Pick<Disk, 'stat' | 'realPath'>, path: string): Promise<string> {
  const above = dirname(path);
  if (above === path || (await disk.stat(path)) !== undefined) return disk.realPath(path);
  return join(await realPlace(disk, above), basename(path));
}
