import type { PageData, PageRow } from '../page-data.js';
import type { Verdict } from './review/redo-manifest.js';
import type { Reviews } from './review/reviews.js';
import type { RowStore } from './rows/row-store.js';

/** What the parts of the page share. */
export interface Page {
  data: PageData;
  store: RowStore;
  readonly reviews: Reviews;
  readonly address: PageAddress;
  openLarge(index: number): void;
  /** Gives a verdict to the rows that can have one; `null` removes it. */
  decide(rows: readonly PageRow[], verdict: Verdict | null): void;
}

/** What a person looks at. It is kept in the page's address, so that a reload or a colleague finds it again. */
interface Place {
  /** The filter's name. */
  readonly name?: string;
  readonly query?: string;
  /** The sort key; a leading `-` reverses the order. */
  readonly sort?: string;
  /** The column for variants; empty: none. Absent: the page's default. */
  readonly by?: string | undefined;
  /** The first frame of the page, from 0. */
  readonly from?: number;
  /** The row in the large view, by its number in the manifest. */
  readonly row?: number | undefined;
}

interface PageAddress {
  read(): Place;
  set(place: Place): void;
}

const words = { name: 'show', query: 'find', sort: 'sort', by: 'by' } as const;
const numbers = { from: 'from', row: 'row' } as const;

/** The place behind the `#` of the address. */
export function openAddress(): PageAddress {
  const read = (): Place => {
    const given = new URLSearchParams(location.hash.slice(1));
    const found: [string, string | number][] = [];
    for (const [name, key] of Object.entries(words)) {
      const text = given.get(key) ?? '';
      if (text !== '' || (key === words.by && given.has(key))) found.push([name, text]);
    }
    for (const [name, key] of Object.entries(numbers)) {
      const text = given.get(key) ?? '';
      if (/^\d{1,9}$/.test(text)) found.push([name, Number(text)]);
    }
    return Object.fromEntries(found);
  };
  return {
    read,
    set(place) {
      const now: Place = { ...read(), ...place };
      const fresh = new URLSearchParams();
      for (const [name, key] of Object.entries({ ...words, ...numbers })) {
        const value = now[name as keyof Place];
        const isUsual = value === '' ? key !== words.by : name === 'from' && value === 0;
        if (value !== undefined && !isUsual) fresh.set(key, String(value));
      }
      // Replaces the entry in the browser's history.
      history.replaceState(null, '', `#${fresh.toString()}`);
    },
  };
}
