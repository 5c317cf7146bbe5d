import { originalColumn, type RowFacets } from '../rows/row-facets.js';

/** The rows made from one original, by their value of one column. */
export interface VariantGroup {
  readonly original: string;
  /** The values of the run's other axes, by name; they are the same for all rows of a group. */
  readonly others: readonly (readonly [name: string, value: string])[];
  /** Row indexes; several when rows differ in another column too. */
  readonly byValue: ReadonlyMap<string, readonly number[]>;
}

export interface VariantGroups {
  /** The values, in the order of their first row. */
  readonly values: readonly string[];
  /** The groups, those with the most variants first. */
  readonly groups: readonly VariantGroup[];
}

/** Rows of an axis that only repeats a row share a cell. */
const repeats = 'repeat';

/** @param axes the axes of the run: only rows with the same other axes are compared */
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

/** Two variants of one original, in display order. */
export interface VariantPair {
  readonly left: { readonly value: string; readonly place: number };
  readonly right: { readonly value: string; readonly place: number };
}

/** The limit of pairs: more than anybody compares in a day. */
const mostPairs = 5000;

/**
 * Each pair of variants of each original once, in random order and on random sides; with too many pairs, the same
 * number for each original.
 *
 * @param canShow whether the row at an index has something to compare
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
