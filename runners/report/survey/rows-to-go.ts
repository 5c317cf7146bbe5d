import type { Disk } from '../../batch/disk/disk.js';
import type { RowRecords } from '../../batch/journal/journal.js';
import { haveOneManifest, laterManifestAt, type ManifestAt, type RowsOfManifest } from './run-story.js';
import type { Survey } from './survey-run.js';

/** Rows of a journal; `undefined` for one that it does not know. */
export type RowsToCount = Iterable<RowRecords | undefined> | AsyncIterable<RowRecords | undefined>;

/** Counts rows by the manifest that they were sent with, in the order of the rows. Rows of an unknown time are of the last one. */
export async function rowsByManifest(rows: RowsToCount, manifestAt: ManifestAt): Promise<RowsOfManifest[]> {
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

/**
 * The same survey with the rows to go of earlier manifests. A run of one manifest has none, and its journal is not recovered for
 * them; the report of a run whose journal is damaged is written without them.
 */
export async function withRowsToGo(disk: Disk, survey: Survey): Promise<Survey> {
  const { folder, story } = survey;
  if (haveOneManifest(story.starts)) return survey;
  const toGoEarlier = await earlierRowsToGo(disk, folder, laterManifestAt(story.starts)).catch(() => []);
  return { ...survey, toGoEarlier };
}
