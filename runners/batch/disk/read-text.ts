import type { Disk } from './disk.js';

/** A whole file of `size` bytes as text. */
export async function readText(disk: Disk, path: string, size: number): Promise<string> {
  const file = await disk.open(path, 'r');
  try {
    const bytes = Buffer.alloc(size);
    let done = 0;
    for (let count = 1; count > 0 && done < size; done += count)
      count = await file.read(bytes.subarray(done), done);
    return bytes.toString('utf8', 0, done);
  } finally {
    await file.close();
  }
}
