import type { Disk } from '../disk/disk.js';
import { isSameHost, ownerSchema, type Owner } from './owner.js';
import { thisHost } from './this-host.js';

/**
 * The process that says it holds a run, without touching its lock; `undefined` where none does, or where the one that
 * did is gone. Of a process on another host it cannot be told whether it still runs.
 */
export async function whoHolds(disk: Disk, folder: string): Promise<Owner | undefined> {
  const owner = await readOwner(disk, `${folder}/.owner.json`);
  if (owner === undefined || (isSameHost(owner.host, thisHost()) && !isAlive(owner.pid))) return undefined;
  return owner;
}

async function readOwner(disk: Disk, path: string): Promise<Owner | undefined> {
  try {
    const file = await disk.open(path, 'r');
    try {
      const bytes = Buffer.alloc(16 << 10);
      return ownerSchema.parse(JSON.parse(bytes.toString('utf8', 0, await file.read(bytes, 0))));
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
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
