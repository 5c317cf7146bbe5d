import { createHash } from 'node:crypto';
import type { Disk } from '../disk/disk.js';

/** SHA-256 of a file, in hex. */
export async function hashFile(disk: Disk, path: string): Promise<string> {
  const file = await disk.open(path, 'r');
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(1 << 16);
    let position = 0;
    for (let count = await file.read(chunk, 0); count > 0; count = await file.read(chunk, position)) {
      hash.update(chunk.subarray(0, count));
      position += count;
    }
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}
