import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFault, LockError } from './owner.js';

/** A lock that is held. */
export interface FileLock {
  /** Releases the lock; the file stays. */
  release(): Promise<void>;
}

/** Stands for a lock that cannot be tried. */
export const nothingHeld: FileLock = { release: () => Promise.resolve() };

/** A lock that a child process can share: it is held until every process that has the file descriptor has ended. */
export interface OpenLock extends FileLock {
  readonly fd: number;
}

/**
 * A byte offset beyond the end of any file of a run. On Windows other processes cannot read a locked byte, and these
 * files are read.
 */
export const farByte = 2 ** 40;

/** Locks one byte of a file, or all of it. `undefined` if another process has the lock. */
export type TryLock = (path: string, byte?: number) => Promise<FileLock | undefined>;

interface NativeLocks {
  /** Returns false if another process has the lock. */
  tryLock(fd: number, offset?: number, length?: number): boolean;
}

/**
 * Locks a file with the kernel (an open-file-description lock on Linux, flock on macOS, LockFileEx on Windows), which frees the
 * lock however the process ends. No clock is involved.
 *
 * @throws {LockError} `lock-unavailable`, `lock-io`.
 */
export const tryLockFile = lockFilesBy(async () => {
  // There the package would end the process while it loads.
  if ('deno' in process.versions) throw new LockError('lock-unavailable', noLocksOnDeno);
  // @ts-expect-error The package has no types: `NativeLocks` is the part of it that is used.
  const { default: locks } = (await import('fs-native-extensions')) as { default: NativeLocks };
  return locks;
});

const noLocksOnDeno =
  'Deno cannot load the locks of a run, and without them two runs could buy the same rows. Nothing was sent: start this with Node.js, which can continue every run.';

/** @param load Loads the system's locks when one is used. */
export function lockFilesBy(
  load: () => Promise<NativeLocks>,
): (path: string, byte?: number) => Promise<OpenLock | undefined> {
  return async (path, byte) => {
    const locks = await load().catch((cause: unknown) => {
      throw notLoaded(cause);
    });
    const file = await open(path, constants.O_RDWR | constants.O_CREAT).catch((cause: unknown) => {
      throw lockFault(`The lock file ${path}`, 'opened', cause);
    });
    let isLocked = false;
    try {
      isLocked = byte === undefined ? locks.tryLock(file.fd) : locks.tryLock(file.fd, byte, 1);
    } catch (cause) {
      throw notLockable(path, cause);
    } finally {
      if (!isLocked) await file.close();
    }
    return isLocked ? { fd: file.fd, release: () => file.close() } : undefined;
  };
}

function notLoaded(cause: unknown): LockError {
  if (cause instanceof LockError) return cause;
  const message =
    `fs-native-extensions does not load on ${process.platform}-${process.arch}, and without its lock two runs could buy the same rows. ` +
    'It is a dependency of millrace with prebuilt parts for Linux, macOS and Windows on x64 and arm64: run `npm i millrace` again on this machine.';
  return new LockError('lock-unavailable', message, undefined, { cause });
}

function notLockable(path: string, cause: unknown): LockError {
  const message = `The file system of ${path} offers no locks (${(cause as Error).message}), and without one two runs could buy the same rows: choose another --out.`;
  return new LockError('lock-unavailable', message, undefined, { cause });
}

interface FileLockOptions {
  /** How long to try, in ms; a holder keeps the lock for a few ms. @defaultValue 30_000 */
  readonly patienceMs?: number;
  /** @defaultValue tryLockFile */
  readonly tryLock?: TryLock;
  /** @defaultValue a timer */
  readonly wait?: (ms: number) => Promise<unknown>;
}

const firstWaitMs = 1;
const longestWaitMs = 64;

/**
 * Runs `work` while only this process has the lock file, and waits for it if necessary.
 *
 * @throws {LockError} `held` if it was not free in time; `lock-unavailable`; `lock-io`.
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  options: FileLockOptions = {},
): Promise<T> {
  const { patienceMs = 30_000, tryLock = tryLockFile, wait = sleep } = options;
  let waited = 0;
  let waitMs = firstWaitMs;
  for (;;) {
    const lock = await tryLock(path);
    if (lock !== undefined) return work().finally(() => lock.release());
    if (waited >= patienceMs) throw stuck(path, patienceMs);
    await wait(waitMs);
    waited += waitMs;
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
}

function stuck(path: string, patienceMs: number): LockError {
  const message = `The lock ${path} was not free within ${patienceMs / 1_000} s: another millrace process holds it, and seems to hang.`;
  return new LockError('held', message);
}
