import type { Disk } from '../disk/disk.js';
import { isSameHost, type Owner } from './owner.js';
import { readOwner } from './read-owner.js';
import { thisHost } from './this-host.js';

/**
 * The process that says it holds a run, without touching its lock; `undefined` where none does, or where the one that
 * did is gone. Of a process on another host it cannot be told whether it still runs.
 */
export async function whoHolds(disk: Disk, folder: string): Promise<Owner | undefined> {
  const owner = await readOwner(disk, folder);
  if (owner === undefined || owner === 'unreadable') return undefined;
  if (isSameHost(owner.host, thisHost()) && !isAlive(owner.pid)) return undefined;
  return owner;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
