import type { Disk } from '../../batch/disk/disk.js';
import type { RowRecords } from '../../batch/journal/journal.js';
import type { ManifestAt } from './run-story.js';

/** How many rows were sent with one of the run's manifests. */
export interface RowsOfManifest {
  /** Its path; `undefined` for the run's first one. */
  readonly manifest: string | undefined;
  readonly rows: number;
}

/** Counts rows by the manifest that they were sent with, in the order of the rows. Rows of an unknown time are of the last one. */
export async function rowsByManifest(
  rows: Iterable<RowRecords | undefined> | AsyncIterable<RowRecords>,
  manifestAt: ManifestAt,
): Promise<RowsOfManifest[]> {
  const counts = new Map<string | undefined, number>();
  for await (const row of rows) {
    const manifest = manifestAt(row?.intent?.at ?? row?.outcome?.at ?? Infinity);
    counts.set(manifest, (counts.get(manifest) ?? 0) + 1);
  }
  return [...counts].map(([manifest, count]) => ({ manifest, rows: count }));
}

/**
 * Rows that were sent with an earlier manifest and wait to be sent again. A start with the last manifest does not send them,
 * and they are not among the rows to go of that start.
 */
export async function earlierRowsToGo(
  disk: Disk,
  folder: string,
  manifestAt: ManifestAt,
): Promise<RowsOfManifest[]> {
  const { peekJournal } = await import('../../batch/journal/recovered-journal.js');
  const journal = await peekJournal(disk, folder);
  if (journal === undefined) return [];
  const counts = await rowsByManifest(journal.rowsIn(['open']), manifestAt);
  const latest = manifestAt(Infinity);
  return counts.filter(({ manifest }) => manifest !== latest);
}
