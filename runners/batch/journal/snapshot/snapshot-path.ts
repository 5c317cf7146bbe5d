import { folderOf } from '../../disk/append-file.js';

/** Beside the journal. It may be removed at any time: the next start reads the whole journal then. */
export function snapshotPath(journal: string): string {
  return `${folderOf(journal)}/.journal.snapshot`;
}
