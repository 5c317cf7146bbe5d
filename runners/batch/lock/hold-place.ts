import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { Disk } from '../disk/disk.js';
import { readText } from '../disk/read-text.js';
import { stateFolder } from '../disk/state-folder.js';
import { LockError } from './lock-error.js';
import { ownerSchema, type Owner } from './owner.js';
import type { FileLock, TryLock } from './try-lock-file.js';

/** On Windows a byte that is locked cannot be read by others, and the file says who holds it. */
const farByte = 2 ** 40;
const mostBytes = 16 << 10;

export interface HoldPlaceOptions {
  readonly disk: Disk;
  readonly tryLock: TryLock;
  readonly owner: Owner;
  /** Where the lock is kept; the next one is taken where one cannot be written. @defaultValue the user's state folder, then the folder for temporary files */
  readonly stateFolders?: readonly string[];
}

export interface PlaceHold {
  /** Why no lock is held: the folder's own locks are the only ones then. */
  readonly warning?: string;
  release(): Promise<void>;
}

/**
 * Locks the real path of a run's folder, by a file outside of it: while this process lives no other one of this user works
 * under that path, also where the folder was moved away meanwhile and a new one made in its place.
 *
 * @throws {LockError} `held`
 */
export async function holdPlace(folder: string, options: HoldPlaceOptions): Promise<PlaceHold> {
  const { disk, tryLock, owner, stateFolders = usualFolders() } = options;
  const real = await realpath(folder).catch(() => resolve(folder));
  const name = `${createHash('sha256').update(real).digest('hex').slice(0, 32)}.lock`;
  const faults: string[] = [];
  for (const state of stateFolders) {
    const path = `${state}/runs/${name}`;
    try {
      await disk.mkdir(`${state}/runs`);
      const lock = await tryLock(path, farByte);
      if (lock === undefined) throw await heldThere(disk, real, path);
      await writeNote(disk, path, { ...owner, folder: real });
      return { release: () => giveUp(disk, path, lock) };
    } catch (error) {
      if (error instanceof LockError && error.code === 'held') throw error;
      faults.push(error instanceof Error ? error.message : String(error));
    }
  }
  const warning =
    `The path of ${real} is not locked outside of it (${faults.join('; ')}): if the folder is moved while this run goes on, ` +
    'a second start under its name is not refused. Set XDG_STATE_HOME to a folder that can be written.';
  return { warning, release: () => Promise.resolve() };
}

function usualFolders(): string[] {
  const user = process.getuid?.() ?? 'user';
  return [stateFolder(process.env, process.platform, homedir()), `${tmpdir()}/millrace-${user}`];
}

/** For the message to the next one. Nothing is decided by it. */
async function writeNote(disk: Disk, path: string, note: Owner & { folder: string }): Promise<void> {
  const file = await disk.open(path, 'a+').catch(() => undefined);
  try {
    await file?.truncate(0);
    await file?.write(Buffer.from(`${JSON.stringify(note)}\n`), 0);
  } catch {
    // The next one is refused without a name.
  } finally {
    await file?.close();
  }
}

/** A file that stays would be one for each folder that ever held a run. Whoever has opened it meanwhile finds it locked, and is refused. */
async function giveUp(disk: Disk, path: string, lock: FileLock): Promise<void> {
  await disk.unlink(path).catch(() => undefined);
  await lock.release();
}

async function heldThere(disk: Disk, folder: string, path: string): Promise<LockError> {
  const owner = await readNote(disk, path).catch(() => undefined);
  const who = owner === undefined ? 'another process' : `process ${owner.pid} (${owner.command})`;
  const message =
    `The run in ${folder} is held by ${who}, though its folder holds no lock: it was moved, removed or replaced while that run goes on. ` +
    'Stop that run and put its folder back, or choose another --out.';
  return new LockError('held', message, owner);
}

async function readNote(disk: Disk, path: string): Promise<Owner | undefined> {
  const size = (await disk.stat(path))?.size ?? 0;
  if (size === 0 || size > mostBytes) return undefined;
  return ownerSchema.parse(JSON.parse(await readText(disk, path, size)));
}
