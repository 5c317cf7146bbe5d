import type { Disk } from '../disk/disk.js';
import type { Journal, RowRecords } from '../journal/journal.js';
import type { Projections } from '../sinks/projections.js';

interface Place {
  readonly disk: Disk;
  readonly out: string;
  readonly journal: Pick<Journal, 'rowsIn' | 'find'>;
  readonly projections: Pick<Projections, 'pictures'>;
}

/** Rows that are paid for and whose picture is not in the folder, though its URL is known. In flat memory. */
export async function* missingPictures({
  disk,
  out,
  journal,
  projections,
}: Place): AsyncGenerator<RowRecords, void, void> {
  yield* journal.rowsIn(['download', 'replied']);
  for await (const { id, path } of projections.pictures()) {
    if (path !== undefined && (await disk.stat(`${out}/${path}`))?.kind === 'file') continue;
    const row = await journal.find(id);
    if (row?.reply?.imageUrl !== undefined) yield row;
  }
}
