import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { LockError } from './lock-error.js';

/** A lock that is held. */
export interface FileLock {
  /** The file stays: removing it would let two processes lock two files of one name. */
  release(): Promise<void>;
}

/** `undefined`: somebody else has it. */
export type TryLock = (path: string) => Promise<FileLock | undefined>;

/**
 * Locks a file by the kernel (an open-file-description lock on Linux, flock on macOS, LockFileEx on Windows), which frees
 * it when the process ends, however it ends. No clock and no age is involved.
 *
 * @throws {LockError} `lock-unavailable`, `lock-io`.
 */
export const tryLockFile: TryLock = async (path) => {
  const extension = await loadExtension();
  const file = await open(path, constants.O_RDWR | constants.O_CREAT).catch((cause: unknown) => {
    throw new LockError(
      'lock-io',
      `The lock file ${path} cannot be opened: ${(cause as Error).message}.`,
      undefined,
      { cause },
    );
  });
  let locked = false;
  try {
    locked = extension.tryLock(file.fd);
  } catch (cause) {
    const message = `The file system of ${path} offers no locks (${(cause as Error).message}), and without one two runs could buy the same rows: choose another --out.`;
    throw new LockError('lock-unavailable', message, undefined, { cause });
  } finally {
    if (!locked) await file.close();
  }
  return locked ? { release: () => file.close() } : undefined;
};

/** Loaded when it is needed: only runs need it. */
async function loadExtension(): Promise<{ tryLock(fd: number): boolean }> {
  try {
    return (await import('fs-native-extensions')).default;
  } catch (cause) {
    const message =
      `fs-native-extensions does not load on ${process.platform}-${process.arch}, and without its lock two runs could buy the same rows. ` +
      'It is a dependency of millrace with prebuilt parts for Linux, macOS and Windows on x64 and arm64: run `npm i millrace` again on this machine.';
    throw new LockError('lock-unavailable', message, undefined, { cause });
  }
}
