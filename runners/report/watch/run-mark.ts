import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';

const names = ['results.jsonl', 'failures.jsonl', 'earlier.jsonl', 'costs.csv', 'summary.json'];

/** Changes whenever the files of a run that tell of rows that ended have grown or been written anew. */
export async function runMark(disk: Disk, folder: string): Promise<string> {
  const sizes = await Promise.all(
    names.map(async (name) => (await disk.stat(join(folder, name)))?.size ?? 0),
  );
  return sizes.join(' ');
}
