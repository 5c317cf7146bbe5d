import { imagesFolder, pictureName } from '../../artifacts/picture-name.js';
import type { Disk } from '../../disk/disk.js';
import type { Journal } from '../../journal/journal.js';

const formats = ['png', 'jpeg'] as const;

/**
 * The journal, holding those rows as well that it does not know and whose picture lies in the folder: a picture is saved after
 * its row's intent, so such a row was bought and the journal has lost it, as when a backup without the pictures was put back.
 */
export async function holdingPictured(disk: Disk, folder: string, journal: Journal): Promise<Journal> {
  const { recovered } = journal;
  if (recovered.records === 0) return journal;
  const names = await unknownPictures(disk, folder, journal);
  if (names.size === 0) return journal;
  const hasPicture = (id: string): boolean =>
    formats.some((format) =>
      [false, true].some((collides) => names.has(pictureName({ id, format, collides }))),
    );
  const mustHold = (id: string, row: number): boolean =>
    recovered.mustHold(id, row) || (recovered.rows.get(id) === undefined && hasPicture(id));
  return {
    recovered: { ...recovered, mustHold },
    append: (record) => journal.append(record),
    records: (after) => journal.records(after),
    rowsIn: (statuses) => journal.rowsIn(statuses),
    find: (id) => journal.find(id),
    close: () => journal.close(),
  };
}

/** Those that are named after a row that is known are left out: they are nearly all. */
async function unknownPictures(
  disk: Disk,
  folder: string,
  { recovered }: Journal,
): Promise<ReadonlySet<string>> {
  const names = await disk.list(`${folder}/${imagesFolder}`);
  const isUnknown = (name: string): boolean =>
    name.includes('~') || recovered.rows.get(name.slice(0, name.lastIndexOf('.'))) === undefined;
  return new Set(names.filter(isUnknown));
}
