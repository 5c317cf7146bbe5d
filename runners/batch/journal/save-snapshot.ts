import type { Disk } from '../disk/disk.js';
import { replaceFile } from '../disk/replace-file.js';
import { sealed } from '../disk/sealed-file.js';
import { journalPath } from './journal.js';
import {
  bytesASnapshot,
  bytesBehindSnapshot,
  madeBy,
  type SnapshotHeader,
  snapshotPath,
} from './load-snapshot.js';
import type { RecoveredFile } from './recover.js';
import type { Recovery } from './recovery.js';
import { readJournal } from './recovered-journal.js';

/**
 * Saves the state that a journal leads to beside it, so that the next start reads only the newer records. It replaces
 * the last snapshot atomically. If the disk fails, there is no new snapshot, and nothing is lost.
 *
 * @param every By how many bytes the journal must have grown since the last snapshot.
 */
export async function saveSnapshot(
  disk: Disk,
  journal: string,
  { recovery, goodEnd: end, checksum, newlineMissing, snapshotEnd }: RecoveredFile,
  every: number = bytesASnapshot,
): Promise<void> {
  if (newlineMissing || !recovery.isPlain || end - snapshotEnd < every) return;
  const header: SnapshotHeader = { made: madeBy, end, checksum, kept: recovery.kept };
  const bytes = sealed(header, columnBytes(recovery));
  await replaceFile(disk, snapshotPath(journal), bytes).catch(() => undefined);
}

/** The columns; before each chunk, a byte says whether it is stored. */
function* columnBytes(recovery: Recovery): Generator<Uint8Array, void, void> {
  for (const [column, length] of recovery.columns()) {
    for (const chunk of column.chunksOf(length)) {
      yield Uint8Array.of(chunk ? 1 : 0);
      if (chunk) yield chunk;
    }
  }
}

/**
 * If a run has added much to its journal, reads that part and saves a new snapshot, so that the next start need not
 * read it. All errors are ignored: the next start reports them.
 *
 * @param options.every How many bytes since the last snapshot are worth a new one.
 * @param options.share The same as a share of the whole journal; the larger of both counts. @defaultValue 0
 * @param options.onBegin Called if a snapshot is to be saved, which takes some seconds for a million rows.
 */
export async function refreshSnapshot(
  disk: Disk,
  folder: string,
  {
    every = bytesASnapshot,
    share = 0,
    onBegin,
  }: { every?: number; share?: number; onBegin?: () => void } = {},
): Promise<void> {
  const path = journalPath(folder);
  try {
    const { size = 0 } = (await disk.stat(path)) ?? {};
    const worth = Math.max(every, share * size);
    if ((await bytesBehindSnapshot(disk, path)) < worth) return;
    onBegin?.();
    await saveSnapshot(disk, path, await readJournal(disk, path), worth);
  } catch {
    // The next start then reads the whole journal.
  }
}
