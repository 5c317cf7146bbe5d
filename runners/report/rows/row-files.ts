import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { replaceUnsynced } from '../../batch/disk/replace-file.js';
import { pageName, withThumbs, type PageRow, type RowSource } from '../page-data.js';
import { embedJson } from '../messages/escape-html.js';
import type { Survey } from '../survey/survey-run.js';
import { Room } from '../read/read-places.js';
import { LineFiles } from './line-files.js';
import { PageRowReader } from './page-rows.js';
import { type RunPictures, readWhole } from './run-pictures.js';

const rowsPerFile = 250;
/** From this many rows on, more of them share a file, because each file is synced. */
const manyRows = 20_000;
const manyRowsPerFile = 1000;
const writesAtOnce = 4;
export const folderName = 'report';

export function rowsPerFileOf(count: number): number {
  return count > manyRows ? manyRowsPerFile : rowsPerFile;
}

/**
 * Writes rows as scripts that pass them to the page, because a browser refuses to fetch files.
 *
 * @param survey.onWritten Called with the number of rows written so far, first with 0.
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
  const writer = new WritesBehind();
  let pages = 0;
  onWritten(0, count);
  try {
    for (let from = 0; from < count; from += perFile) {
      const call = `millraceRows(${JSON.stringify(version)},${pages},`;
      const path = join(folder, pageName(pages++));
      const to = Math.min(from + perFile, count);
      await writer.begin(
        (room) => files.content(call, from, to, room),
        (content) => replaceUnsynced(disk, path, content),
      );
      onWritten(to, count);
    }
  } finally {
    await writer.ended().finally(() => reader.close());
  }
  await disk.syncFolder(folder);
  await removeRowFiles(disk, survey.folder, pages);
  return { kind: 'files', folder: folderName, version, rowsPerFile: perFile };
}

/** Runs several writes at once while the next content is prepared, because a disk syncs several files in the time of one. */
class WritesBehind {
  readonly #open = new Set<Promise<void>>();
  readonly #free = Array.from({ length: writesAtOnce }, () => new Room());
  #failed: { readonly error: unknown } | undefined;

  /** Resolves once the write has begun; rejects with the error of an earlier one. */
  async begin<T>(make: (room: Room) => Promise<T>, write: (content: T) => Promise<void>): Promise<void> {
    if (this.#open.size >= writesAtOnce) await Promise.race(this.#open);
    if (this.#failed !== undefined) throw this.#failed.error;
    const room = this.#free.pop() ?? new Room();
    room.clear();
    const writing = write(await make(room))
      .catch((error: unknown) => void (this.#failed ??= { error }))
      .finally(() => {
        this.#open.delete(writing);
        this.#free.push(room);
      });
    this.#open.add(writing);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#open);
    if (this.#failed !== undefined) throw this.#failed.error;
  }
}

/** Removes files that an earlier, larger report left. Earlier versions also wrote files for the search. */
export async function removeRowFiles(disk: Disk, folder: string, pages: number): Promise<void> {
  for (const name of await disk.list(join(folder, folderName))) {
    const found = /^(page|search|facets)-(\d+)\.js(\.tmp)?$/.exec(name);
    const isLeft = found?.[1] === 'page' && found[3] === undefined && Number(found[2]) <= pages;
    if (found !== null && !isLeft) await disk.unlink(join(folder, folderName, name));
  }
}

/** A script that passes rows that are parsed already. */
export function scriptOf(version: string, file: number, rows: readonly PageRow[]): string {
  // The rows are JSON text: in an object literal, a column named __proto__ would not be a plain column.
  return `millraceRows(${JSON.stringify(version)},${file},${embedJson(JSON.stringify(rows))})\n`;
}

/**
 * The rows and their thumbnails as blocks of one page; `undefined` if the thumbnails are too large. A thumbnail is included
 * once, however many rows show it: rows refer to it as `#place`.
 */
export async function inlineRows(
  disk: Disk,
  folder: string,
  rows: readonly PageRow[],
  maxBytes: number,
): Promise<string[] | undefined> {
  const places = new Map<string, number>();
  const placeOf = new Map<string, number>();
  const thumbs: string[] = [];
  let bytes = 0;
  for (const path of new Set(rows.flatMap(thumbsOf))) {
    if (!path.startsWith('thumbnails/')) continue;
    const picture = await readWhole(disk, join(folder, ...path.split('/').map(decodeURIComponent)));
    if (picture === undefined) continue;
    const text = `data:image/webp;base64,${Buffer.from(picture).toString('base64')}`;
    const same = placeOf.get(text) ?? thumbs.push(text) - 1;
    if (!placeOf.has(text)) bytes += text.length;
    if (bytes > maxBytes) return undefined;
    placeOf.set(text, same);
    places.set(path, same);
  }
  const placed = (thumb: string): string => (places.has(thumb) ? `#${places.get(thumb)}` : thumb);
  const placedRows = rows.map((row) => withThumbs(row, placed));
  return [block('row-data', placedRows), block('thumb-data', thumbs)];
}

function thumbsOf(row: PageRow): string[] {
  return [row.picture, ...row.references, ...(row.earlier ?? [])].flatMap((picture) => picture?.thumb ?? []);
}

function block(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${embedJson(value)}</script>\n`;
}
