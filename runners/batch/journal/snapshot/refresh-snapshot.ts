import type { Disk } from '../../disk/disk.js';
import { journalPath } from '../journal-path.js';
import { readJournal } from '../recovered-journal.js';
import { readHeader } from './read-header.js';
import { saveSnapshot } from './save-snapshot.js';
import { bytesASnapshot } from './snapshot.js';
import { snapshotPath } from './snapshot-path.js';

/**
 * Reads what a run has added to its journal, once it is much, and keeps a new snapshot, so that the next start is spared it.
 * Reads nothing but files; a fault of any is for that start to tell.
 *
 * @param every Less than so many bytes since the last snapshot are not worth it.
 */
export async function refreshSnapshot(
  disk: Disk,
  folder: string,
  every: number = bytesASnapshot,
): Promise<void> {
  const path = journalPath(folder);
  try {
    const size = (await disk.stat(path))?.size ?? 0;
    if (size - (await endOfLast(disk, path)) < every) return;
    await saveSnapshot(disk, path, await readJournal(disk, path), every);
  } catch {
    // The journal is read whole by the next start.
  }
}

/** 0 where there is none that can be read. */
async function endOfLast(disk: Disk, journal: string): Promise<number> {
  const path = snapshotPath(journal);
  if ((await disk.stat(path)) === undefined) return 0;
  const file = await disk.open(path, 'r');
  try {
    return (await readHeader(file)).header.end;
  } finally {
    await file.close();
  }
}
