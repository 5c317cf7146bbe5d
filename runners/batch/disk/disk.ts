/**
 * The one door to the file system for everything a run reads and writes. The real one is `nodeDisk`; tests put a
 * failing or a forgetful one in its place. Errors are Node's, with their `code` (ENOSPC, EIO …).
 */
export interface Disk {
  /** `r`: must exist. `r+`: read and write, must exist. `a+`: made when missing. `wx`: must not exist. A new file has that `mode`, where one is given. */
  open(path: string, flags: 'r' | 'r+' | 'a+' | 'wx', mode?: number): Promise<DiskFile>;
  /** Takes the place of a file that stands there. */
  rename(from: string, to: string): Promise<void>;
  /** The file must exist. */
  unlink(path: string): Promise<void>;
  /** With parents; no error when it is there. */
  mkdir(path: string): Promise<void>;
  /** Names in a folder; an empty list when it is missing. */
  list(path: string): Promise<string[]>;
  /**
   * `undefined` when it is missing. Follows no link. `id`: the same for all names of one file, and no other file's while this
   * one is open (device and inode); left out where the file system has none.
   */
  stat(path: string): Promise<DiskEntry | undefined>;
  /** The absolute path, with its links followed; as it is given where nothing stands there. */
  realPath(path: string): Promise<string>;
  /** What this user may still write to the disk of a folder, in bytes; `undefined`: it is not known. @defaultValue it never is */
  freeBytes?(path: string): Promise<number | undefined>;
  /** Makes a rename or a new file in this folder survive a power cut. */
  syncFolder(path: string): Promise<void>;
}

export interface DiskEntry {
  readonly size: number;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly id?: string;
}

/** An open file. Positions and sizes in bytes. */
export interface DiskFile {
  /** May read fewer bytes than asked; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** May write fewer bytes than given: the caller writes the rest. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** fdatasync. */
  sync(): Promise<void>;
  /** Cuts the file to `size` bytes. */
  truncate(size: number): Promise<void>;
  /** Bytes, as they stand now. */
  size(): Promise<number>;
  /** The `id` that `stat` gives for a name of this file. @defaultValue none is known */
  id?(): Promise<string | undefined>;
  /** Gives the descriptor back. */
  close(): Promise<void>;
}

/** Goes on after short writes. A write of nothing is an error: going on would never end. */
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
