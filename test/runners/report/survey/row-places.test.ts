import { expect, it } from 'vitest';
import { RowPlaces, type RowPlace } from '../../../../runners/report/survey/row-places.js';

const place = (row: number, more: Partial<RowPlace> = {}): RowPlace => ({
  row,
  file: 'results.jsonl',
  offset: row * 2 ** 33,
  length: 100 + row,
  cause: 0,
  again: false,
  toGo: false,
  isSaved: false,
  namesFiles: false,
  at: 0,
  ...more,
});

const given = [
  place(3, { at: 1_800_000_000_030 }),
  place(1, { file: 'failures.jsonl', cause: 2, at: 1_800_000_000_050 }),
  place(2, { again: true }),
  place(1, { cause: 1, file: 'failures.jsonl', again: true, at: 1_800_000_000_030 }),
];

function placesOf(rows: readonly RowPlace[]): RowPlaces {
  const places = new RowPlaces();
  for (const row of rows) places.add(row);
  return places;
}

it('gives back what it was given', () => {
  const places = placesOf(given);
  expect(places.slice(0, Infinity)).toEqual(given);
  expect(places.slice(1, 99)).toEqual(given.slice(1));
  expect(places.slice(4, 9)).toEqual([]);
});

it('arranges rows by the manifest, and counts causes anew', () => {
  const numbers = new Map([
    [1, 2],
    [2, 1],
  ]);
  expect(placesOf(given).arrange(numbers).slice(0, Infinity)).toEqual([
    { ...given[1], cause: 1 },
    { ...given[3], cause: 2 },
    given[2],
    given[0],
  ]);
});

it('tells when rows ended, and which ended last', () => {
  const places = placesOf(given).arrange(new Map());
  expect([...places.endTimes].sort()).toEqual([1_800_000_000_030, 1_800_000_000_030, 1_800_000_000_050]);
  expect([...places.endTimes].length).toBe(3);
  expect(places.latest(9)).toEqual([0, 3, 1, 2]);
  expect(places.latest(2)).toEqual([0, 3]);
});
