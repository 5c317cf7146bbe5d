import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import type { PageRow, RowSource } from '../page-data.js';
import { embedJson } from '../messages/escape-html.js';
import type { Survey } from '../survey/survey-run.js';
import { LineFiles } from './line-files.js';
import { PageRowReader } from './page-rows.js';
import type { RunPictures } from './run-pictures.js';

const rowsPerFile = 250;
/** Each file is synced: where there are many rows, more of them share one. */
const manyRows = 20_000;
const manyRowsPerFile = 1000;
export const folderName = 'report';

export function rowsPerFileOf(count: number): number {
  return count > manyRows ? manyRowsPerFile : rowsPerFile;
}

/**
 * Writes rows as scripts that hand them to the page, since a browser refuses to fetch files.
 *
 * @param survey.onWritten Called with how many of them are written, the first time with none.
 */
export async function writeRowFiles(
  disk: Disk,
  survey: Survey,
  shelf: RunPictures,
  onWritten: (rows: number, of: number) => void = () => undefined,
): Promise<RowSource> {
  const count = survey.rows.places.length;
  const perFile = rowsPerFileOf(count);
  const version = randomBytes(6).toString('hex');
  const folder = join(survey.folder, folderName);
  await disk.mkdir(folder);
  const reader = await PageRowReader.open(disk, survey, shelf);
  const files = new LineFiles(reader, shelf, survey.isRehearsal);
  const writer = new WriteBehind();
  let pages = 0;
  onWritten(0, count);
  try {
    for (let from = 0; from < count; from += perFile) {
      const call = `millraceRows(${JSON.stringify(version)},${pages},`;
      const content = await files.content(call, from, Math.min(from + perFile, count));
      const path = join(folder, pageName(pages++));
      await writer.begin(() => replaceFile(disk, path, content));
      onWritten(Math.min(from + perFile, count), count);
    }
  } finally {
    await writer.ended();
    await reader.close();
  }
  await removeRowFiles(disk, survey.folder, pages);
  return { kind: 'files', folder: folderName, version, rowsPerFile: perFile };
}

/** One write at a time, while the next one's content is put together. */
class WriteBehind {
  private last = Promise.resolve();

  /** Resolves once the write has begun; throws what the one before has thrown. */
  async begin(write: () => Promise<void>): Promise<void> {
    await this.last;
    this.last = write();
    // Whoever begins or ends next is told.
    this.last.catch(() => undefined);
  }

  ended(): Promise<void> {
    return this.last;
  }
}

/** Removes what an earlier, larger report left; earlier versions also wrote files for the search. */
export async function removeRowFiles(disk: Disk, folder: string, pages: number): Promise<void> {
  for (const name of await disk.list(join(folder, folderName))) {
    const found = /^(page|search|facets)-(\d+)\.js$/.exec(name);
    if (found !== null && (found[1] !== 'page' || Number(found[2]) > pages))
      await disk.unlink(join(folder, folderName, name));
  }
}

/** A script that hands over rows that were made already. */
export function scriptOf(version: string, file: number, rows: readonly PageRow[]): string {
  // The rows travel as a text of JSON: as a literal, a column named __proto__ would be more than a column.
  return `millraceRows(${JSON.stringify(version)},${file},${embedJson(JSON.stringify(rows))})\n`;
}

function pageName(file: number): string {
  return `page-${String(file + 1).padStart(4, '0')}.js`;
}
