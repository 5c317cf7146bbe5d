import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Disk } from '../disk/disk.js';

/**
 * A run's folder that there can never be.
 *
 * @throws {MillraceError} `usage` where a file has its name, or that of a folder above it.
 */
export async function refuseFile(disk: Pick<Disk, 'stat'>, out: string): Promise<void> {
  const what = await disk.stat(out).then(
    (found) => (found?.kind === 'file' ? 'is a file' : undefined),
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return 'lies below a file';
      throw error;
    },
  );
  if (what !== undefined)
    throw new MillraceError(
      'usage',
      `${out} ${what}, and a run needs a folder: choose another --out; nothing was sent`,
    );
}
