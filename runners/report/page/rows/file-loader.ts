import { pageName, type LineFacts, type PageRow, type RowSource } from '../../page-data.js';
import { type RowsOfFile, rowsOfLines } from '../../rows/rows-of-lines.js';
import { RowFacets } from './row-facets.js';

/** Script files call this to pass on their rows, because a browser refuses to fetch local files. */
declare global {
  interface Window {
    millraceRows?: TakeRows;
  }
}

/** Receives rows as JSON, or the header of a file and its lines. */
type TakeRows = (version: string, file: number, json: string, lines?: string) => void;

const filesKept = 12;

/**
 * Loads rows from script files beside the page when they are needed.
 *
 * @param isLocal the run was a rehearsal
 */
export function fileLoader(source: FileSource, count: number, isLocal: boolean): RowSupply {
  const rows = new Map<number, Promise<RowsOfFile>>();
  let all: Promise<AllRows> | undefined;
  const rowsOf = (file: number): Promise<RowsOfFile> => {
    const found = rows.get(file) ?? loadRows(source, file, isLocal);
    rows.delete(file);
    rows.set(file, found);
    for (const old of rows.keys()) if (rows.size > filesKept) rows.delete(old);
    found.catch(() => rows.delete(file));
    return found;
  };
  const readAll = (): Promise<AllRows> => {
    all ??= readThrough(Math.ceil(count / source.rowsPerFile), rowsOf);
    all.catch(() => (all = undefined));
    return all;
  };
  return {
    async load(indexes) {
      const files = [...new Set(indexes.map((index) => Math.floor(index / source.rowsPerFile)))];
      const loaded = new Map<number, RowsOfFile>();
      for (const part of batches(files, 8)) {
        await Promise.all(part.map(async (file) => loaded.set(file, await rowsOf(file))));
      }
      return indexes.flatMap(
        (index) => loaded.get(Math.floor(index / source.rowsPerFile))?.at(index % source.rowsPerFile) ?? [],
      );
    },
    texts: async () => (await readAll()).texts,
    facets: async () => (await readAll()).facets,
  };
}

/** The data for search and sorting. */
interface AllRows {
  readonly texts: readonly string[];
  readonly facets: RowFacets;
}

/** Reads all files once, one after the other, at the first search or sort. */
async function readThrough(files: number, rowsOf: (file: number) => Promise<RowsOfFile>): Promise<AllRows> {
  const texts: string[] = [];
  const facets = new RowFacets();
  for (let file = 0; file < files; file++) {
    const rows = await rowsOf(file);
    for (let place = 0; place < rows.count; place++) {
      const row = rows.at(place);
      if (row === undefined) continue;
      texts.push(searchText(row));
      facets.add(row);
    }
  }
  return { texts, facets };
}

type FileSource = Exclude<RowSource, { kind: 'inline' }>;
const waiting = new Map<string, (json: string, lines?: string) => void>();

function loadRows({ folder, version }: FileSource, file: number, isLocal: boolean): Promise<RowsOfFile> {
  window.millraceRows ??= (from, number, ...content) => waiting.get(`${from} ${number}`)?.(...content);
  const path = `${folder}/${pageName(file)}`;
  // With the version in the URL, the browser does not use a cached file of an earlier report.
  return new Promise((resolve, reject) => {
    const key = `${version} ${file}`;
    const script = document.createElement('script');
    const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce;
    if (nonce !== undefined) script.nonce = nonce;
    waiting.set(key, (json, lines) => {
      const value = JSON.parse(json) as PageRow[] | LineFacts;
      if (Array.isArray(value)) resolve({ count: value.length, at: (place) => value[place] });
      else resolve(rowsOfLines(value, lines ?? '', isLocal));
    });
    const end = (): void => {
      waiting.delete(key);
      script.remove();
      reject(
        new Error(`${path} is missing, or of another report: write the report again with "millrace report".`),
      );
    };
    script.onload = end;
    script.onerror = end;
    script.src = `${path}?${version}`;
    document.head.append(script);
  });
}

function batches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Returns rows by their index in manifest order. */
export interface RowSupply {
  load(indexes: readonly number[]): Promise<PageRow[]>;
  /** The lower-case search text of every row. */
  texts(): Promise<readonly string[]>;
  facets(): Promise<RowFacets>;
}

/** The text of a row that search looks through has at most this many characters. */
const longestText = 600;

/** The text that the gallery's search looks through. */
export function searchText(row: PageRow): string {
  const cells = Object.entries(row.cells ?? {}).filter(([name, value]) => name !== 'id' && isPlain(value));
  const parts = [
    row.id,
    row.error?.message,
    row.jobId,
    row.output,
    ...cells.map(([, value]) => String(value)),
  ];
  return parts
    .filter((part) => part !== undefined)
    .join('\n')
    .slice(0, longestText)
    .toLowerCase();
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
