import type { Disk } from '../disk/disk.js';
import { nodeDisk } from '../disk/node-disk.js';
import { replaceFile } from '../disk/replace-file.js';
import { journalPath } from '../journal/journal.js';
import { Announcements } from './announced-requests.js';
import { holdPlace } from './hold-place.js';
import { RunProgress } from './run-progress.js';
import {
  lockFault,
  LockError,
  isSameHost,
  type Host,
  type Owner,
  type RunHold,
  ownerPath,
  readOwner,
  isGone,
  startTicksOf,
  thisHost,
} from './owner.js';
import { farByte, tryLockFile, type FileLock, type TryLock, nothingHeld } from './try-lock-file.js';

export interface HoldRunOptions {
  /** @defaultValue nodeDisk */
  readonly disk?: Disk;
  /** @defaultValue tryLockFile */
  readonly tryLock?: TryLock;
  /** @defaultValue thisHost() */
  readonly host?: Host;
  /** The command that a second start names when it is refused. @defaultValue the command line's first two words */
  readonly command?: string;
  /**
   * Folders for the lock on the run folder's path, in order of preference. @defaultValue the user's state folder, then
   * the one for temporary files
   */
  readonly stateFolders?: readonly string[];
  /** In ms since the epoch; only shown. @defaultValue Date.now */
  readonly now?: () => number;
}

/** The hold of a folder of this machine, which knows what other starts and other runs have done. */
export interface FolderHold extends RunHold {
  /** Compares the journal with how far the run is known to have come: see `RunProgress`. Use it once the journal has been read. */
  readonly progress?: Pick<RunProgress, 'check' | 'note' | 'noteChanges' | 'noteFound' | 'noteRows'>;
  /** What this run and others of this machine send. */
  readonly announcements?: Pick<Announcements, 'begin' | 'add' | 'takeBack'>;
}

/**
 * Makes this process the only one of a run until it releases the hold or ends, even by kill -9.
 *
 * @throws {LockError} `held`, naming the owner; `lock-unavailable`; `lock-io`.
 */
export async function holdRun(folder: string, options: HoldRunOptions = {}): Promise<FolderHold> {
  const { disk = nodeDisk, tryLock = tryLockFile, host = thisHost() } = options;
  const path = ownerPath(folder);
  await writingOwner(path, () => disk.mkdir(folder));
  const lock = await tryLock(`${folder}/.lock`);
  if (lock === undefined) throw heldHere(folder, await readOwner(disk, folder), host);
  return afterwards(lock, async () => {
    const before = await readOwner(disk, folder);
    refuseOthers(folder, before, host, path);
    // If the lock file of a live run is removed, a second process can take that lock, but not this one. A journal that
    // this start repairs is a new file, which is not locked. One that cannot be opened is reported when it is read.
    const second = await tryLock(journalPath(folder), farByte).catch(() => nothingHeld);
    if (second === undefined) throw heldHere(folder, before, host);
    return afterwards(second, () => holdOutside(folder, [second, lock], before !== undefined, options));
  });
}

/** Also locks the path, by a file outside of the folder, and then writes the owner's name into the folder. */
async function holdOutside(
  folder: string,
  inside: readonly FileLock[],
  isInherited: boolean,
  options: HoldRunOptions,
): Promise<FolderHold> {
  const { disk = nodeDisk, tryLock = tryLockFile, host = thisHost(), stateFolders } = options;
  const path = ownerPath(folder);
  const owner = ownerOf(host, options);
  const outside = { disk, tryLock, owner, ...(stateFolders && { stateFolders }) };
  const place = await holdPlace(folder, outside);
  const progress = new RunProgress(folder, outside);
  return afterwards(place, async () => {
    const announcements = new Announcements(await disk.realPath(folder), outside);
    await writingOwner(path, () => replaceFile(disk, path, `${JSON.stringify(owner)}\n`));
    return {
      isInherited,
      progress,
      announcements,
      ...(place.warning !== undefined && { warning: place.warning }),
      release: async () => {
        await disk.unlink(path).catch(() => undefined);
        for (const lock of [announcements, progress, place, ...inside]) await lock.release();
      },
    };
  });
}

async function afterwards<T>(lock: Pick<FileLock, 'release'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function ownerOf(
  host: Host,
  { command = process.argv.slice(2, 4).join(' '), now = Date.now }: HoldRunOptions,
): Owner {
  const startTicks = startTicksOf(process.pid);
  const started = new Date(now()).toISOString();
  return { pid: process.pid, host, started, command, ...(startTicks !== undefined && { startTicks }) };
}

/** The file may still name the last holder, which is gone. */
function heldHere(folder: string, owner: Owner | 'unreadable' | undefined, here: Host): LockError {
  const known = typeof owner === 'object' && !isGone(owner, here) ? owner : undefined;
  const who = known === undefined ? 'another process, whose name is not known yet' : named(known);
  const message = `The run in ${folder} is held by ${who}. Wait for its end.`;
  return new LockError('held', message, known);
}

/**
 * Refuses the start if the process in the owner file may still run. A crash leaves the file whole, so an unreadable one
 * was not left by a crash.
 */
function refuseOthers(
  folder: string,
  owner: Owner | 'unreadable' | undefined,
  here: Host,
  path: string,
): void {
  if (owner === undefined || (owner !== 'unreadable' && isSameHost(owner.host, here))) return;
  if (owner !== 'unreadable') throw heldElsewhere(folder, owner, here, path);
  const message = `The owner file ${path} cannot be read, so nobody knows who holds the run. Once you are sure that no process does, remove it and start again.`;
  throw new LockError('held', message);
}

function heldElsewhere(folder: string, owner: Owner, here: Host, path: string): LockError {
  const message =
    `The run in ${folder} is held by ${named(owner)}. This is host ${here.name}${here.inContainer ? ' (a container)' : ''}: a lock does not reach ` +
    `from one host or container to another, so that process may still run. Once you are sure that it is gone, remove ${path} and start again.`;
  return new LockError('held', message, owner);
}

function named({ pid, host, started, command }: Owner): string {
  const what = command === '' ? '' : ` (${command})`;
  return `process ${pid} on host ${host.name}${host.inContainer ? ' (a container)' : ''}, started ${started}${what}`;
}

async function writingOwner(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw lockFault(`The owner file ${path}`, 'written', cause);
  }
}
