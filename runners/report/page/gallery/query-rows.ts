import type { Review } from '../review/redo-manifest.js';
import type { RowFacets } from '../rows/row-facets.js';

interface Candidate {
  readonly facets: RowFacets;
  readonly place: number;
  /** The text that the search looks through. */
  readonly text: string;
  readonly review: Review | undefined;
}

type Test = (row: Candidate) => boolean;

const term = /("[^"]+"|[\p{L}\p{N}_.-]+):("[^"]*"|[^\s"]+)|"([^"]*)"|(\S+)/gu;
const numberNames = new Set(['price', 'time', 'stars']);

/** Plain words, and `column:value`, `price:>0.1` (USD), `time:<20` (seconds), `stars:>=3`, `note:word`. */
export function parseQuery(query: string): { words: string[]; tests: Test[] } {
  const words: string[] = [];
  const tests: Test[] = [];
  for (const [whole, name, value, quoted, word] of query.toLowerCase().matchAll(term)) {
    if (name === undefined || value === undefined) words.push(quoted ?? word ?? whole);
    else tests.push(testOf(unquoted(name), unquoted(value), whole));
  }
  return { words: words.filter((word) => word !== ''), tests };
}

/** A term that `parseQuery` reads. */
export function queryTerm(column: string, value: string): string {
  const quoted = (text: string): string =>
    /^[\p{L}\p{N}_.-]+$/u.test(text) ? text : `"${text.replaceAll('"', '')}"`;
  return `${quoted(column)}:${quoted(value)}`;
}

function unquoted(text: string): string {
  return text.replace(/^"|"$/g, '');
}

function testOf(name: string, value: string, whole: string): Test {
  const [, sign = '', number] = /^([<>]=?)?(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (numberNames.has(name) && number !== undefined)
    return (row) => holds(numberOf(row, name), sign, Number(number));
  if (name === 'note') return ({ review }) => review?.note?.toLowerCase().includes(value) === true;
  return ({ facets, place, text }) => {
    const column = facets.columnLike(name);
    // `https://…` names no column: it is searched for as text.
    if (column === undefined) return text.includes(whole);
    return facets.text(column, place)?.toLowerCase().replaceAll('"', '') === value;
  };
}

function numberOf({ facets, place, review }: Candidate, name: string): number | undefined {
  if (name === 'stars') return review?.stars ?? 0;
  const value = facets.number(name === 'price' ? 'price' : 'time', place);
  return value === undefined ? undefined : value / (name === 'price' ? 1e6 : 1e3);
}

function holds(value: number | undefined, sign: string, bound: number): boolean {
  if (value === undefined) return false;
  if (sign === '>') return value > bound;
  if (sign === '<') return value < bound;
  return sign === '>=' ? value >= bound : sign === '<=' ? value <= bound : value === bound;
}

/** Sorts by a column, `price`, `time`, `ended` or `stars`. Rows without a value come last; equal rows keep their order. */
export function sortPlaces(
  places: readonly number[],
  sort: string,
  facets: RowFacets,
  reviews: ReadonlyMap<number, Review>,
): number[] {
  if (sort === '') return [...places];
  const [name, way] = sort.startsWith('-') ? [sort.slice(1), -1] : [sort, 1];
  const keyOf = (place: number): number | string | undefined => {
    if (name === 'stars') return reviews.get(place)?.stars;
    if (name === 'price' || name === 'time' || name === 'ended') return facets.number(name, place);
    return facets.text(name, place);
  };
  const compare = new Intl.Collator('en', { numeric: true }).compare;
  const keyed = places.map((place) => ({ place, key: keyOf(place) }));
  keyed.sort((one, other) => {
    if (one.key === undefined || other.key === undefined)
      return Number(one.key === undefined) - Number(other.key === undefined);
    const order =
      typeof one.key === 'number' && typeof other.key === 'number'
        ? one.key - other.key
        : compare(String(one.key), String(other.key));
    return order * way;
  });
  return keyed.map(({ place }) => place);
}
