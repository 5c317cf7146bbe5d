import { createHash } from 'node:crypto';
import * as z from 'zod';
import { errorText } from '../../../src/contract/millrace-error.js';
import type { Disk, DiskEntry } from '../disk/disk.js';
import { journalPath } from '../journal/journal.js';
import { LockError, ownerSchema, readNote, usualFolders, writeNote, type Owner } from './owner.js';
import { farByte, type FileLock, type TryLock, nothingHeld } from './try-lock-file.js';

export interface HoldPlaceOptions {
  readonly disk: Disk;
  readonly tryLock: TryLock;
  readonly owner: Owner;
  /**
   * Folders for the lock file; if one cannot be written, the next is tried. @defaultValue the user's state folder, then
   * the folder for temporary files
   */
  readonly stateFolders?: readonly string[];
}

export interface PlaceHold {
  /** Why no lock is held; then only the locks inside the folder protect the run. */
  readonly warning?: string;
  release(): Promise<void>;
}

/**
 * Locks the real path of a run's folder with a file outside of it: while this process lives, no other process of this
 * user works under that path, even if the folder was moved away and a new one created in its place.
 *
 * @throws {LockError} `held`; `moved` if the folder was moved or removed during an earlier run, and has not been put back
 */
export async function holdPlace(folder: string, options: HoldPlaceOptions): Promise<PlaceHold> {
  const { disk, tryLock, owner, stateFolders = usualFolders() } = options;
  const real = await disk.realPath(folder);
  const name = `${createHash('sha256').update(real).digest('hex').slice(0, 32)}.lock`;
  const faults: string[] = [];
  for (const state of stateFolders) {
    const path = `${state}/runs/${name}`;
    try {
      await disk.mkdir(`${state}/runs`);
      const lock = await tryLock(path, farByte);
      if (lock === undefined) throw await heldThere(disk, real, path);
      return await noted(disk, { path, real, lock, owner });
    } catch (error) {
      if (error instanceof LockError && (error.code === 'held' || error.code === 'moved')) throw error;
      faults.push(errorText(error));
    }
  }
  const warning =
    `The path of ${real} is not locked outside of it (${faults.join('; ')}): if the folder is moved while this run goes on, ` +
    'a second start under its name is not refused. Set XDG_STATE_HOME to a folder that can be written.';
  return { warning, ...nothingHeld };
}

interface Place {
  /** The path of the lock file. */
  readonly path: string;
  /** The real path of the run's folder. */
  readonly real: string;
  readonly lock: FileLock;
  readonly owner: Owner;
}

async function noted(disk: Disk, place: Place): Promise<PlaceHold> {
  const { path, real, lock, owner } = place;
  const before = await readNote(disk, path, noteSchema).catch(() => undefined);
  const journal = await disk.stat(journalPath(real));
  if (before?.isLost === true && (journal?.size ?? 0) === 0) {
    await lock.release();
    throw moved(real, path);
  }
  await writeNote(disk, path, { ...owner, folder: real });
  return { release: () => giveUp(disk, place, journal) };
}

/**
 * Removes the lock file, so that not every run leaves one. It keeps the file if the folder was moved away during the run:
 * without it, the same command would begin a new run at this path and buy the rows of the moved folder again.
 */
async function giveUp(
  disk: Disk,
  { path, real, lock, owner }: Place,
  before: DiskEntry | undefined,
): Promise<void> {
  const journal = await disk.stat(journalPath(real)).catch(() => undefined);
  // A second start that was refused may have created an empty journal.
  const isAnother = journal === undefined || (journal.size === 0 && journal.id !== before?.id);
  if (before !== undefined && isAnother)
    await writeNote(disk, path, { ...owner, folder: real, isLost: true });
  else await disk.unlink(path).catch(() => undefined);
  await lock.release();
}

function moved(folder: string, path: string): LockError {
  const message =
    `The run in ${folder} was moved or removed during the run, and only that folder has its purchases: a new run under this name ` +
    `would make them again. Nothing was sent. Put the folder back, or choose another --out. If the rows are to be bought again, remove ${path}.`;
  return new LockError('moved', message);
}

async function heldThere(disk: Disk, folder: string, path: string): Promise<LockError> {
  const owner = await readNote(disk, path, noteSchema).catch(() => undefined);
  const who = owner === undefined ? 'another process' : `process ${owner.pid} (${owner.command})`;
  const message =
    `The run in ${folder} is held by ${who}, though its folder holds no lock: it was moved, removed or replaced while that run goes on. ` +
    'Stop that run and put its folder back, or choose another --out.';
  return new LockError('held', message, owner);
}

const noteSchema = ownerSchema.extend({ folder: z.string(), isLost: z.boolean().optional() });
