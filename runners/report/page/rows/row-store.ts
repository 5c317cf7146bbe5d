import { numberInRuns, type PageData, type PageRow, placeInRuns, withThumbs } from '../../page-data.js';
import { RowFacets } from './row-facets.js';
import { fileLoader, type RowSupply, searchText } from './file-loader.js';

/** The rows of the run by index in manifest order, from the page or from files. */
export interface RowStore extends RowSupply {
  readonly count: number;
  /** The index of the row's class in the page's classes. */
  classOf(index: number): number;
  placeOf(row: number): number | undefined;
  /** The number in the manifest of the row at an index. */
  numberAt(place: number): number | undefined;
  /** Synchronous `load`; `undefined` when rows are in files beside the page. */
  loadNow(indexes: readonly number[]): readonly PageRow[] | undefined;
}

export function openRows(data: PageData): RowStore {
  const source = data.source;
  const count = data.rows.length / 2;
  const known = source.kind === 'inline' ? inlineSource() : fileLoader(source, count, data.run.isRehearsal);
  return {
    count,
    classOf: (index) => parseInt(data.rows.slice(index * 2, index * 2 + 2), 36),
    placeOf: (row) => placeInRuns(data.numbers, row),
    numberAt: (place) => numberInRuns(data.numbers, place),
    loadNow: () => undefined,
    ...known,
  };
}

function inlineSource(): RowSupply & Pick<RowStore, 'loadNow'> {
  const rows = readBlock<PageRow[]>('row-data') ?? [];
  const thumbs = readBlock<string[]>('thumb-data') ?? [];
  let facets: RowFacets | undefined;
  let texts: string[] | undefined;
  // The page holds each thumbnail once, however many rows show it: a row refers to it as `#index`.
  const resolve = (thumb: string) => (thumb.startsWith('#') ? thumbs[Number(thumb.slice(1))] : thumb);
  const whole = rows.map((row) => withThumbs(row, resolve));
  return {
    loadNow: (indexes) => indexes.flatMap((index) => whole[index] ?? []),
    load: (indexes) => Promise.resolve(indexes.flatMap((index) => whole[index] ?? [])),
    texts: () => Promise.resolve((texts ??= whole.map(searchText))),
    facets() {
      if (facets === undefined) {
        facets = new RowFacets();
        for (const row of whole) facets.add(row);
      }
      return Promise.resolve(facets);
    },
  };
}

export function readBlock<T>(id: string): T | undefined {
  const text = document.getElementById(id)?.textContent;
  return text === undefined || text === '' ? undefined : (JSON.parse(text) as T);
}

/** The row's request in a line: its prompt, else its input. */
export function requestText(row: PageRow): string {
  const { route, method, ...cells } = row.cells ?? {};
  const fields = Object.entries(cells).filter(([name]) => /^(input|body)(\.|$)/.test(name));
  const input = fields.map(([name, value]) =>
    /^(input|body)$/.test(name) ? JSON.stringify(value) : `${name.replace(/^\w+\./, '')}: ${String(value)}`,
  );
  const call = typeof route === 'string' ? [`${typeof method === 'string' ? method : 'POST'} ${route}`] : [];
  return promptOf(row) ?? [...call, ...input].join(', ');
}

export function promptOf(row: PageRow): string | undefined {
  const prompt = row.cells?.['prompt'];
  return typeof prompt === 'string' ? prompt : undefined;
}
