import { expect, it } from 'vitest';
import type { PageRow } from '../../../../runners/report/page-data.js';
import { RowFacets } from '../../../../runners/report/page/rows/row-facets.js';

const row = (number: number, cells: Record<string, unknown>): PageRow => ({
  id: `row-${number}`,
  row: number,
  kind: 'job',
  status: 'completed',
  references: [],
  cells,
});

function facetsOf(count: number, cells: (number: number) => Record<string, unknown>): RowFacets {
  const facets = new RowFacets();
  for (let number = 0; number < count; number++) facets.add(row(number, cells(number)));
  return facets;
}

it('knows the values of a column in every row, also where all of thousands of rows have their own', () => {
  const facets = facetsOf(3000, (number) => ({ sku: `sku-${number}`, shop: number % 3 }));
  expect([0, 1234, 2999].map((place) => facets.text('sku', place))).toEqual([
    'sku-0',
    'sku-1234',
    'sku-2999',
  ]);
  expect(facets.columns()).toEqual([
    { name: 'shop', values: ['0', '1', '2'].map((value) => ({ value, count: 1000 })) },
  ]);
});

it('leaves a column out in all rows once it has more values than memory is for', () => {
  const facets = facetsOf(100_001, (number) => ({ text: `text ${number}`, shop: 'a' }));
  expect(facets.columnLike('text')).toBeUndefined();
  expect([facets.text('text', 5), facets.text('shop', 100_000)]).toEqual([undefined, 'a']);
});
