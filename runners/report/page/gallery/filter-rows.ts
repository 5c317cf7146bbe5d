import type { PageData, RowClass } from '../../page-data.js';
import { sentenceCase, statusLabel } from '../../messages/status-label.js';
import type { Rejections } from '../rejections.js';
import type { RowStore } from '../row-store.js';

/** What the gallery shows: `all`, `latest`, `rejections`, `again`, an outcome, or `cause-N`. */
export interface Filter {
  readonly name: string;
  readonly query: string;
}

/** The places of the rows that pass, in the order of the manifest; of the latest, the newest first. */
export async function filterRows(
  filter: Filter,
  data: PageData,
  store: RowStore,
  rejections: Rejections,
): Promise<number[]> {
  const places = placesOf(filter.name, data, store, rejections);
  const words = filter.query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return places;
  const texts = await store.texts();
  return places.filter((place) => words.every((word) => texts[place]?.includes(word) === true));
}

function placesOf(name: string, data: PageData, store: RowStore, rejections: Rejections): number[] {
  if (name === 'latest') return [...(data.latest ?? [])];
  if (name === 'rejections')
    return [...rejections.all.values()].flatMap(({ row }) => store.placeOf(row) ?? []).sort((a, b) => a - b);
  const passes = classTest(name, data);
  return Array.from({ length: store.count }, (_, place) => place).filter(
    (place) => passes[store.classOf(place)],
  );
}

/** Which classes of rows a filter lets through. */
function classTest(name: string, data: PageData): boolean[] {
  return data.classes.map((one, place) => {
    if (name === 'all') return true;
    if (name === 'again') return one.again === true;
    if (name.startsWith('cause-')) return one.cause === Number(name.slice(6)) && place > 0;
    return one.status === name;
  });
}

/** The filters that would show something, and not the same as another. */
export function countFilters(
  data: PageData,
  rejections: Rejections,
): { name: string; label: string; count: number }[] {
  const byStatus = new Map<RowClass['status'], number>();
  for (const { status, count } of data.classes) byStatus.set(status, (byStatus.get(status) ?? 0) + count);
  const again = data.classes.filter((one) => one.again === true).reduce((sum, { count }) => sum + count, 0);
  const all = data.rows.length / 2;
  const byClass = [
    ...[...byStatus].map(([status, count]) => ({
      name: status,
      label: sentenceCase(statusLabel(status)),
      count,
    })),
    { name: 'again', label: 'Bought again', count: again },
  ];
  const kept = { name: 'rejections', label: 'Rejected', count: rejections.all.size };
  return [
    ...(data.latest === undefined ? [] : [{ name: 'latest', label: 'Latest', count: data.latest.length }]),
    { name: 'all', label: 'All', count: all },
    ...byClass.filter(({ count }) => count > 0 && count < all),
    ...(kept.count > 0 ? [kept] : []),
  ];
}
