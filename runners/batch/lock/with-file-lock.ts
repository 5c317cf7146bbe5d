import { setTimeout as sleep } from 'node:timers/promises';
import { LockError } from './lock-error.js';
import { tryLockFile } from './try-lock-file.js';
import type { TryLock } from './try-lock-file.js';

export interface FileLockOptions {
  /** How long to try, in ms: whoever has it holds it for a few of them. @defaultValue 30_000 */
  readonly patienceMs?: number;
  /** @defaultValue tryLockFile */
  readonly tryLock?: TryLock;
  /** @defaultValue a timer */
  readonly wait?: (ms: number) => Promise<unknown>;
}

const firstWaitMs = 1;
const longestWaitMs = 64;

/**
 * Runs the work while this process alone has the lock file, and waits for it if need be.
 *
 * @throws {LockError} `held` when it was not free in time; `lock-unavailable`; `lock-io`.
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
