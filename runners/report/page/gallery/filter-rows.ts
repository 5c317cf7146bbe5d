import type { PageData, RowClass } from '../../page-data.js';
import { sentenceCase, statusLabel } from '../../messages/status-label.js';
import type { Review, Verdict } from '../review/redo-manifest.js';
import type { Reviews } from '../review/reviews.js';
import type { RowStore } from '../rows/row-store.js';
import { parseQuery, sortPlaces } from './query-rows.js';
import type { FilterChoice } from './toolbar.js';

/** What the gallery shows: `all`, `latest`, `undecided`, `kept`, `rejections`, `again`, `to-go`, an outcome, or `cause-N`. */
export interface Filter {
  readonly name: string;
  readonly query: string;
  readonly sort: string;
}

/** The filters that depend on a person's verdicts. */
export const verdictFilters: ReadonlySet<string> = new Set(['undecided', 'kept', 'rejections']);

type Known = Pick<Parts, 'data' | 'store' | 'reviews'>;
interface Parts {
  readonly data: PageData;
  readonly store: RowStore;
  readonly reviews: Reviews;
}

/** The indexes of the rows that pass, in manifest order or as sorted; for `latest`, the newest first. */
export async function filterRows(filter: Filter, known: Known): Promise<number[]> {
  const places = placesOf(filter.name, known);
  const { words, tests } = parseQuery(filter.query);
  const { store } = known;
  const needsFacets = tests.length > 0 || filter.sort !== '';
  const [texts, facets] = [
    words.length > 0 || tests.length > 0 ? await store.texts() : [],
    needsFacets ? await store.facets() : undefined,
  ];
  const byPlace = needsFacets ? reviewsByPlace(known) : new Map<number, Review>();
  const found = places.filter(
    (place) =>
      words.every((word) => texts[place]?.includes(word) === true) &&
      tests.every(
        (test) =>
          facets !== undefined &&
          test({ facets, place, text: texts[place] ?? '', review: byPlace.get(place) }),
      ),
  );
  return facets === undefined ? found : sortPlaces(found, filter.sort, facets, byPlace);
}

export function placesOf(name: string, known: Known): number[] {
  const { data, store, reviews } = known;
  if (name === 'latest') return [...(data.latest ?? [])];
  if (name === 'rejections') return placesWith('rejected', known);
  if (name === 'kept') return placesWith('kept', known);
  const passes = classTest(name, data);
  const decided = name === 'undecided' ? decidedPlaces(reviews, store) : undefined;
  return Array.from({ length: store.count }, (_, place) => place).filter(
    (place) => passes[store.classOf(place)] === true && decided?.has(place) !== true,
  );
}

export function decidedPlaces(reviews: Reviews, store: RowStore): Set<number> {
  const rows = [...reviews.all.values()].filter(({ verdict }) => verdict !== undefined);
  return new Set(rows.flatMap(({ row }) => store.placeOf(row) ?? []));
}

/** The indexes of the rows with a verdict, in manifest order. */
export function placesWith(verdict: Verdict, { reviews, store }: Pick<Known, 'reviews' | 'store'>): number[] {
  return reviews
    .withVerdict(verdict)
    .flatMap(({ row }) => store.placeOf(row) ?? [])
    .sort((a, b) => a - b);
}

function reviewsByPlace({ reviews, store }: Known): Map<number, Review> {
  return new Map(
    [...reviews.all.values()].flatMap((review) => {
      const place = store.placeOf(review.row);
      return place === undefined ? [] : [[place, review] as const];
    }),
  );
}

/** The classes of rows that a filter selects. */
function classTest(name: string, data: PageData): boolean[] {
  return data.classes.map((one, place) => {
    if (name === 'all') return true;
    if (name === 'again') return one.again === true;
    if (name === 'to-go') return one.toGo === true;
    if (name === 'undecided') return one.status === 'completed';
    if (name.startsWith('cause-')) return one.cause === Number(name.slice(6)) && place > 0;
    return one.status === name && one.toGo !== true;
  });
}

/** The filters besides the current one that would show something, and not the same as another filter. */
export function countFilters(data: PageData, reviews: Reviews, chosen: string): FilterChoice[] {
  const byStatus = new Map<RowClass['status'], number>();
  for (const { status, count, toGo } of data.classes)
    if (toGo !== true) byStatus.set(status, (byStatus.get(status) ?? 0) + count);
  const countOf = (isMeant: (one: RowClass) => boolean) =>
    data.classes.filter(isMeant).reduce((sum, { count }) => sum + count, 0);
  const all = data.rows.length / 2;
  const byClass = [
    ...[...byStatus].map(([status, count]) => ({
      name: status,
      label: sentenceCase(statusLabel(status)),
      count,
    })),
    { name: 'to-go', label: 'To go', count: countOf(({ toGo }) => toGo === true) },
    { name: 'again', label: 'Bought again', count: countOf(({ again }) => again === true) },
  ];
  return [
    ...(data.latest === undefined ? [] : [{ name: 'latest', label: 'Latest', count: data.latest.length }]),
    { name: 'all', label: 'All', count: all },
    ...byClass.filter(({ name, count }) => count > 0 && (count < all || name === chosen)),
    ...countVerdicts(
      countOf(({ status }) => status === 'completed'),
      reviews,
    ),
  ];
}

function countVerdicts(completed: number, reviews: Reviews): FilterChoice[] {
  const [kept, rejected] = [reviews.withVerdict('kept'), reviews.withVerdict('rejected')];
  if (kept.length + rejected.length === 0) return [];
  const open = completed - kept.length - rejected.filter(({ failed }) => !failed).length;
  const choices = [
    { name: 'undecided', label: 'Undecided', count: open },
    { name: 'kept', label: 'Kept', count: kept.length },
    { name: 'rejections', label: 'Rejected', count: rejected.length },
  ];
  return choices.filter(({ count }) => count > 0);
}

/** The rows on the page, and those that the filter finds now, as indexes in the current manifest order. */
interface NewRows {
  /** The rows found before, at their present indexes. */
  readonly standing: readonly number[];
  /** How many of them are before the end of the drawn page. */
  readonly drawn: number;
  /** What the filter finds now, in its order. */
  readonly fresh: readonly number[];
  /** Whether the newest come first: rows that ended since may be placed after the others while there is room. */
  readonly isLatest: boolean;
  /** Frames of a page. */
  readonly room: number;
}

/**
 * The list to show when rows have ended while somebody looks: rows on the page stay in place. `undefined` if the new rows move
 * nothing on the page, or if rows have gone: then the page is drawn from the rows that the filter found.
 */
export function holdRows(rows: NewRows): { found: number[]; waiting: number } | undefined {
  const { standing, drawn, fresh, isLatest, room } = rows;
  const others = new Set(fresh);
  const isGone = standing.some((place) => !others.delete(place));
  if (isGone || standing.slice(0, drawn).every((place, at) => fresh[at] === place)) return undefined;
  const waiting = isLatest ? [...others].reverse() : [...others];
  const added = isLatest ? waiting.slice(0, Math.max(0, room - standing.length)) : [];
  return { found: [...standing, ...added], waiting: waiting.length - added.length };
}
