import type { FacetBlock } from '../../facets.js';
import type { PageRow, RowSource } from '../../page-data.js';
import { RowFacets } from './row-facets.js';

/** Script files hand over what they hold by calling these; a browser refuses to fetch files. */
declare global {
  interface Window {
    millraceRows?: (version: string, file: number, json: string) => void;
    millraceTexts?: (version: string, file: number, json: string) => void;
    millraceFacets?: (version: string, file: number, json: string) => void;
  }
}

const filesKept = 12;

/** Loads rows out of script files beside the page as they are needed. */
export function fileLoader(source: FileSource): RowSupply {
  const rows = new Map<number, Promise<PageRow[]>>();
  let texts: Promise<string[]> | undefined;
  let facets: Promise<RowFacets> | undefined;
  const rowsOf = (file: number): Promise<PageRow[]> => {
    const found = rows.get(file) ?? loadScript<PageRow[]>('millraceRows', source, 'page', file, 4);
    rows.delete(file);
    rows.set(file, found);
    for (const old of rows.keys()) if (rows.size > filesKept) rows.delete(old);
    found.catch(() => rows.delete(file));
    return found;
  };
  return {
    async load(indexes) {
      const files = [...new Set(indexes.map((index) => Math.floor(index / source.rowsPerFile)))];
      const loaded = new Map<number, PageRow[]>();
      for (const part of batches(files, 8)) {
        await Promise.all(part.map(async (file) => loaded.set(file, await rowsOf(file))));
      }
      return indexes.flatMap(
        (index) => loaded.get(Math.floor(index / source.rowsPerFile))?.[index % source.rowsPerFile] ?? [],
      );
    },
    texts() {
      texts ??= loadAll<string[]>(source, 'millraceTexts', 'search').then((all) => all.flat());
      texts.catch(() => (texts = undefined));
      return texts;
    },
    facets() {
      facets ??= loadAll<FacetBlock>(source, 'millraceFacets', 'facets').then((all) => new RowFacets(all));
      facets.catch(() => (facets = undefined));
      return facets;
    },
  };
}

async function loadAll<T>(source: FileSource, receiver: Receiver, name: string): Promise<T[]> {
  const all: T[] = [];
  for (let file = 0; file < source.textFiles; file++)
    all.push(await loadScript<T>(receiver, source, name, file, 2));
  return all;
}

type FileSource = Exclude<RowSource, { kind: 'inline' }>;
type Receiver = 'millraceRows' | 'millraceTexts' | 'millraceFacets';
const waiting = new Map<string, (json: string) => void>();

function loadScript<T>(
  receiver: Receiver,
  source: FileSource,
  name: string,
  file: number,
  digits: number,
): Promise<T> {
  window[receiver] ??= (version, number, json) => waiting.get(`${receiver} ${version} ${number}`)?.(json);
  const path = `${source.folder}/${name}-${String(file + 1).padStart(digits, '0')}.js`;
  // The version keeps the browser from taking the file of an earlier report out of its cache.
  return new Promise<T>((resolve, reject) => {
    const key = `${receiver} ${source.version} ${file}`;
    const script = document.createElement('script');
    const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce;
    if (nonce !== undefined) script.nonce = nonce;
    waiting.set(key, (json) => resolve(JSON.parse(json) as T));
    const end = (): void => {
      waiting.delete(key);
      script.remove();
      reject(
        new Error(`${path} is missing, or of another report: write the report again with "millrace report".`),
      );
    };
    script.onload = end;
    script.onerror = end;
    script.src = `${path}?${source.version}`;
    document.head.append(script);
  });
}

function batches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Hands out rows by their place in the manifest's order. */
export interface RowSupply {
  load(indexes: readonly number[]): Promise<PageRow[]>;
  /** What the search looks through: lower-case text of every row. */
  texts(): Promise<readonly string[]>;
  facets(): Promise<RowFacets>;
}
