import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import { FacetCollector } from '../facets.js';
import type { PageRow, RowSource } from '../page-data.js';
import { embedJson } from '../messages/escape-html.js';
import { searchText } from '../messages/search-text.js';

export const rowsPerFile = 250;
/** Each file is synced: where there are very many rows, more of them share one. */
const manyRows = 100_000;
const manyRowsPerFile = 1000;
export const textsPerFile = 10_000;
export const folderName = 'report';

export type FileKind = 'page' | 'search' | 'facets';

/**
 * Writes rows as scripts that hand them to the page, since a browser refuses to fetch files; and what the search reads.
 *
 * @param all.count How many rows there are.
 * @param all.onWritten Called with how many of them are written, the first time with none.
 */
export async function writeRowFiles(
  disk: Disk,
  folder: string,
  batches: AsyncIterable<readonly PageRow[]>,
  { count, onWritten = () => undefined }: { count: number; onWritten?: (rows: number, of: number) => void },
): Promise<RowSource> {
  const perFile = count > manyRows ? manyRowsPerFile : rowsPerFile;
  const version = randomBytes(6).toString('hex');
  await disk.mkdir(join(folder, folderName));
  const writer = new WriteBehind();
  const write = (kind: FileKind, file: number, value: unknown): Promise<void> => {
    const text = scriptText(kind, version, file, value);
    return writer.begin(() => replaceFile(disk, join(folder, folderName, fileName(kind, file)), text));
  };
  let [pages, searches] = [0, 0];
  let [texts, facets] = [[] as string[], new FacetCollector()];
  const writeTexts = async (): Promise<void> => {
    await write('facets', searches, facets.block());
    await write('search', searches++, texts);
    [texts, facets] = [[], new FacetCollector()];
  };
  onWritten(0, count);
  try {
    for await (const rows of regrouped(batches, perFile)) {
      await write('page', pages++, rows);
      onWritten(Math.min(pages * perFile, count), count);
      for (const row of rows) facets.add(row);
      texts.push(...rows.map(searchText));
      if (texts.length >= textsPerFile) await writeTexts();
    }
    if (texts.length > 0) await writeTexts();
  } finally {
    await writer.ended();
  }
  await removeRowFiles(disk, folder, pages, searches);
  return { kind: 'files', folder: folderName, version, rowsPerFile: perFile, textFiles: searches };
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

/** Removes what an earlier, larger report left. */
export async function removeRowFiles(disk: Disk, folder: string, pages: number, searches = 0): Promise<void> {
  for (const name of await disk.list(join(folder, folderName))) {
    const found = /^(page|search|facets)-(\d+)\.js$/.exec(name);
    if (found !== null && Number(found[2]) > (found[1] === 'page' ? pages : searches))
      await disk.unlink(join(folder, folderName, name));
  }
}

export function scriptText(kind: FileKind, version: string, file: number, value: unknown): string {
  const receiver = { page: 'millraceRows', search: 'millraceTexts', facets: 'millraceFacets' }[kind];
  // The rows travel as a text of JSON: as a literal, a column named __proto__ would be more than a column.
  return `${receiver}(${JSON.stringify(version)},${file},${embedJson(JSON.stringify(value))})\n`;
}

function fileName(kind: FileKind, file: number): string {
  return `${kind}-${String(file + 1).padStart(kind === 'page' ? 4 : 2, '0')}.js`;
}

async function* regrouped<T>(
  batches: AsyncIterable<readonly T[]>,
  size: number,
): AsyncGenerator<T[], void, void> {
  let held: T[] = [];
  for await (const batch of batches) {
    held.push(...batch);
    while (held.length >= size) {
      yield held.slice(0, size);
      held = held.slice(size);
    }
  }
  if (held.length > 0) yield held;
}
