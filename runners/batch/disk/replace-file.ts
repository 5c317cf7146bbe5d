import { MillraceError } from '../../../src/contract/millrace-error.js';
import { folderOf, writeAll, type Disk, type DiskFile } from './disk.js';

/** Small pieces are collected up to this many bytes before they are written. */
const collectBytes = 64 << 10;

type Content = Uint8Array | string | Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

/**
 * Replaces a whole file or leaves it as it was: writes a temporary file beside it, syncs, renames, and syncs the
 * folder. On an error the temporary file is removed. Only one writer of a path at a time.
 *
 * @param mode of the new file. @defaultValue the system's default
 * @throws {MillraceError} `not-a-file` if the path is a link, a folder or a device; otherwise the disk's error.
 */
export async function replaceFile(disk: Disk, path: string, content: Content, mode?: number): Promise<void> {
  await refuseOthers(disk, path);
  await refuseOthers(disk, `${path}.tmp`);
  await replaceUnsynced(disk, path, content, mode);
  await disk.syncFolder(folderOf(path));
}

/**
 * Like `replaceFile`, for many files in a folder that only millrace writes to: the caller syncs the folder once, when
 * all are written. A link in it is replaced.
 */
export async function replaceUnsynced(
  disk: Disk,
  path: string,
  content: Content,
  mode?: number,
): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await writeNew(disk, temporary, content, mode);
    await disk.rename(temporary, path);
  } catch (error) {
    await disk.unlink(temporary).catch(() => undefined);
    throw error;
  }
}

async function refuseOthers(disk: Disk, path: string): Promise<void> {
  const found = await disk.stat(path);
  if (found === undefined || found.kind === 'file') return;
  const what = { folder: 'a folder', link: 'a symbolic link', other: 'a device' }[found.kind];
  throw new MillraceError(
    'not-a-file',
    `${path} is ${what}, not a file: move it away, millrace writes there.`,
  );
}

/** Removes a temporary file that a dead process left under this name. */
async function openNew(disk: Disk, path: string, mode: number | undefined): Promise<DiskFile> {
  try {
    return await disk.open(path, 'wx', mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await disk.unlink(path);
    return disk.open(path, 'wx', mode);
  }
}

async function writeNew(disk: Disk, path: string, content: Content, mode: number | undefined): Promise<void> {
  const file = await openNew(disk, path, mode);
  try {
    const collected = Buffer.allocUnsafe(collectBytes);
    let held = 0;
    let position = 0;
    const write = async (bytes: Uint8Array): Promise<void> => {
      await writeAll(file, bytes, position);
      position += bytes.length;
    };
    for await (const chunk of chunksOf(content)) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      if (held + bytes.length > collected.length) {
        await write(collected.subarray(0, held));
        held = 0;
      }
      if (bytes.length > collected.length) await write(bytes);
      else {
        collected.set(bytes, held);
        held += bytes.length;
      }
    }
    await write(collected.subarray(0, held));
    await file.sync();
  } finally {
    await file.close();
  }
}

function chunksOf(content: Content): Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string> {
  return typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
}

/** Temporary files of a run that are renamed when complete, and the file that reserves disk space. */
const names =
  /^\.ballast$|^(\.journal\.snapshot|\.manifest\.checked(\.rows)?|\.webhook\.json|poll-law\.json|summary\.json|report\.html|(results|failures|earlier)\.(jsonl|csv)|costs\.csv)\.tmp$/;
const parts = /^\.[0-9a-f]{20}(\.[0-9a-f]{8})?\.part$|^\.[0-9a-f]{20}\.note(\.tmp)?$/;
const thumbnails = /\.[0-9a-f]{8}\.webp\.tmp$/;

/** Removes unfinished files of a dead process from a run's folder, but only files with millrace's own names. */
export function clearLeftovers(disk: Disk, folder: string): Promise<void> {
  return clear(disk, folder, [['', names]]);
}

/** The same for pictures and files. Call it when no worker can be saving some in the folder. */
export function clearUnsaved(disk: Disk, folder: string): Promise<void> {
  return clear(disk, folder, [
    ['/images', parts],
    ['/files', parts],
    ['/thumbnails', thumbnails],
  ]);
}

async function clear(
  disk: Disk,
  folder: string,
  places: readonly (readonly [place: string, ours: RegExp])[],
): Promise<void> {
  for (const [place, ours] of places) {
    const there = await disk.list(`${folder}${place}`);
    for (const name of there) {
      // A leftover that cannot be removed does no harm.
      if (ours.test(name) && !isGoneOnWith(name, there))
        await disk.unlink(`${folder}${place}/${name}`).catch(() => undefined);
    }
  }
}

/** Whether the file is a partial download or its note, and both exist: a later start continues them. */
function isGoneOnWith(name: string, there: readonly string[]): boolean {
  const [, digest = ''] = name.split('.');
  const isPair = name.endsWith('.part') || name.endsWith('.note');
  return (
    isPair &&
    there.includes(`.${digest}.note`) &&
    there.some((one) => one.startsWith(`.${digest}.`) && one.endsWith('.part'))
  );
}
