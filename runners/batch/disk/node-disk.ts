import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';
import {
  type FileHandle,
  lstat,
  open,
  readdir,
  realpath,
  rename,
  unlink,
  mkdir,
  stat,
  statfs,
} from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Disk, DiskEntry, DiskFile, FileAtOnce } from './disk.js';

/**
 * The real file system. Positions are honoured with every flag: `a+` opens for reading and writing and creates a
 * missing file, but never moves a write to the end by itself.
 */
export const nodeDisk: Disk = {
  open: async (path, flags, mode) => asDiskFile(path, await open(path, openFlags[flags], mode)),
  rename,
  unlink,
  mkdir: makeFolders,
  list: (path) => readdir(path).catch(whenMissing<string[]>([])),
  stat: (path) => lstat(path, { bigint: true }).then(describe).catch(whenMissing(undefined)),
  realPath: (path) => realpath(path).catch(() => resolve(path)),
  freeBytes,
  syncFolder,
  atOnce: {
    open: (path) => appendedAtOnce(openSync(path, 'a')),
    list: (path) => (existsSync(path) ? readdirSync(path) : []),
  },
};

function appendedAtOnce(file: number): FileAtOnce {
  return {
    append: (bytes) => writeSync(file, bytes),
    size: () => fstatSync(file).size,
    truncate: (size) => ftruncateSync(file, size),
    close: () => closeSync(file),
  };
}

/** A file system that counts no blocks does not know its free space. */
async function freeBytes(path: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(path);
  return blocks === 0 ? undefined : bavail * bsize;
}

const openFlags = {
  r: constants.O_RDONLY,
  'r+': constants.O_RDWR,
  'a+': constants.O_RDWR | constants.O_CREAT,
  wx: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
} as const;

/**
 * Some systems cannot open a folder (Windows, or without the right to read it) or cannot sync it (a few network file
 * systems): there a rename cannot be made more durable.
 */
const cannotSyncFolders = new Set([
  'EISDIR',
  'EPERM',
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EBADF',
  'EACCES',
]);

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, constants.O_RDONLY);
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (!cannotSyncFolders.has(errno(error) ?? '')) throw error;
  }
}

function asDiskFile(path: string, handle: FileHandle): DiskFile {
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw withPath(error, path);
    }
  };
  return {
    read: async (into, position) => (await named(handle.read(into, 0, into.length, position))).bytesRead,
    write: async (bytes, position) =>
      (await named(handle.write(bytes, 0, bytes.length, position))).bytesWritten,
    sync: () => named(handle.datasync()),
    truncate: (size) => named(handle.truncate(size)),
    size: async () => (await named(handle.stat())).size,
    id: async () => idOf(await named(handle.stat({ bigint: true }))),
    close: () => handle.close(),
  };
}

/** Node.js names the file of a failed `open`, but not that of a failed `read` or `write`. */
function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error;
  if (!error.message.includes(path)) error.message += ` '${path}'`;
  return Object.assign(error, { path });
}

function describe(found: BigIntStats): DiskEntry {
  const kind = found.isFile()
    ? 'file'
    : found.isDirectory()
      ? 'folder'
      : found.isSymbolicLink()
        ? 'link'
        : 'other';
  const id = idOf(found);
  return { size: Number(found.size), kind, ...(id !== undefined && { id }) };
}

function idOf({ dev, ino }: BigIntStats): string | undefined {
  return ino === 0n ? undefined : `${dev}:${ino}`;
}

function whenMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (errno(error) === 'ENOENT') return value;
    throw error;
  };
}

function errno(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/**
 * Creates a folder and its parents. A folder that exists is not an error. Node's own `recursive` never ends on a file
 * system that refuses a new folder with ENOENT, as /proc does.
 *
 * @throws the disk's error, ENOENT included
 */
export async function makeFolders(path: string): Promise<void> {
  const error = await refusal(path);
  if (error === undefined) return;
  const above = dirname(path);
  if (error.code !== 'ENOENT' || above === path) throw error;
  await makeFolders(above);
  const second = await refusal(path);
  if (second !== undefined) throw second;
}

async function refusal(path: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path);
    return undefined;
  } catch (error) {
    const refused = error as NodeJS.ErrnoException;
    const isThere = refused.code === 'EEXIST' && (await stat(path)).isDirectory();
    return isThere ? undefined : refused;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The folder for a user's data that outlives a process: `XDG_STATE_HOME` on every system, else the system's usual folder. A relative path is
 * ignored, as the XDG specification says: otherwise runs that are started in two folders would share no ledger and no notes.
 */
export function stateFolder(env: Env, platform: string, home: string): string {
  const state = env['XDG_STATE_HOME'];
  if (state !== undefined && isAbsolute(state)) return `${state}/millrace`;
  if (platform === 'win32') return `${env['LOCALAPPDATA'] ?? `${home}/AppData/Local`}/millrace`;
  if (platform === 'darwin') return `${home}/Library/Application Support/millrace`;
  return `${home}/.local/state/millrace`;
}
