import { originalColumn } from '../../facets.js';
import type { RowFacets } from '../rows/row-facets.js';

/** The rows that were made of one original, by the value that one column has. */
export interface VariantGroup {
  readonly original: string;
  /** The values of the run's other axes, by name: rows of one group differ in nothing else. */
  readonly others: readonly (readonly [name: string, value: string])[];
  /** Places of rows; several where rows differ in another column as well. */
  readonly byValue: ReadonlyMap<string, readonly number[]>;
}

export interface VariantGroups {
  /** The values, in the order in which they first come. */
  readonly values: readonly string[];
  /** Those with the most variants first. */
  readonly groups: readonly VariantGroup[];
}

/** The rows of an axis that only repeats a row stand in one place. */
const repeats = 'repeat';

/** @param axes Those of the run: like is laid beside like. */
export function variantGroups(
  found: readonly number[],
  by: string,
  facets: RowFacets,
  axes: readonly string[],
): VariantGroups {
  const values = new Set<string>();
  const groups = new Map<string, Omit<VariantGroup, 'byValue'> & { byValue: Map<string, number[]> }>();
  const names = axes.filter((name) => name !== by && name !== repeats);
  for (const place of found) {
    const [original, value] = [facets.text(originalColumn, place), facets.text(by, place)];
    if (original === undefined || value === undefined) continue;
    const others = names.flatMap((name) => {
      const other = facets.text(name, place);
      return other === undefined ? [] : [[name, other] as const];
    });
    const key = JSON.stringify([original, others]);
    const group = groups.get(key) ?? { original, others, byValue: new Map<string, number[]>() };
    groups.set(key, group);
    const places = group.byValue.get(value) ?? [];
    group.byValue.set(value, places);
    places.push(place);
    values.add(value);
  }
  const sorted = [...groups.values()];
  sorted.sort((one, other) => other.byValue.size - one.byValue.size);
  return { values: [...values], groups: sorted };
}

/** Two variants of one original, in the order in which they are shown. */
export interface VariantPair {
  readonly left: { readonly value: string; readonly place: number };
  readonly right: { readonly value: string; readonly place: number };
}

/** More than anybody compares in a day. */
const mostPairs = 5000;

/**
 * Each two variants of each original once, in an order and on sides that say nothing; of more pairs than anybody compares, as
 * many of each original.
 *
 * @param canShow Whether the row at a place has something to compare.
 */
export function shuffledPairs(
  { groups }: VariantGroups,
  random: () => number,
  canShow: (place: number) => boolean,
): VariantPair[] {
  const share = Math.max(1, Math.floor(mostPairs / Math.max(1, groups.length)));
  const pairs = groups.slice(0, mostPairs).flatMap(({ byValue }) => {
    const sides = [...byValue].flatMap(([value, places]) => {
      const place = places.find(canShow);
      return place === undefined ? [] : [{ value, place }];
    });
    const all = sides.flatMap((one, index) => sides.slice(index + 1).map((other) => [one, other] as const));
    const some = all.length > share ? shuffled(all, random).slice(0, share) : all;
    return some.map(([one, other]) =>
      random() < 0.5 ? { left: one, right: other } : { left: other, right: one },
    );
  });
  return shuffled(pairs, random);
}

function shuffled<T>(items: T[], random: () => number): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}
