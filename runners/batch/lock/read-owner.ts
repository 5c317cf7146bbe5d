import type { Disk } from '../disk/disk.js';
import { ownerSchema } from './owner.js';
import type { Owner } from './owner.js';

/** Longer owner files are none. */
const mostBytes = 16 << 10;

/** Where a run's owner says who it is. */
export function ownerPath(folder: string): string {
  return `${folder}/.owner.json`;
}

/** Who the owner file of a run names. `undefined` where there is none; `unreadable` where it cannot be told. */
export async function readOwner(disk: Disk, folder: string): Promise<Owner | 'unreadable' | undefined> {
  const path = ownerPath(folder);
  try {
    if ((await disk.stat(path)) === undefined) return undefined;
    const file = await disk.open(path, 'r');
    try {
      const bytes = Buffer.alloc(mostBytes);
      return ownerSchema.parse(JSON.parse(bytes.toString('utf8', 0, await file.read(bytes, 0))));
    } finally {
      await file.close();
    }
  } catch {
    return 'unreadable';
  }
}
