import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** Where Linux keeps files in memory. In containers it may be too small: Docker gives it 64 MB. */
const memory = '/dev/shm';
const prefix = 'millrace-tests-';
const enoughBytes = 4 * 2 ** 30;

/**
 * Gives the tests a folder in memory for all that they write, unless TMPDIR names one: a sync of a real disk takes up to 20 times as long, and a
 * folder that is made and removed 3 times as much work. Tests of what a disk may do have disks of their own: `forgetful-disk.ts`.
 */
export default function folderInMemory(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return undefined;
  removeLeft();
  const folder = join(memory, `${prefix}${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  process.env['TMPDIR'] = folder;
  return () => remove(folder);
}

function hasRoom(): boolean {
  if (process.platform !== 'linux' || !existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= enoughBytes;
}

/** What test runs have left that were killed. */
function removeLeft(): void {
  for (const name of readdirSync(memory)) {
    if (!name.startsWith(prefix) || existsSync(`/proc/${name.slice(prefix.length)}`)) continue;
    try {
      remove(join(memory, name));
    } catch {
      // It belongs to somebody else.
    }
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
