import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  imageEditPrices,
  toMicroDollars,
  toUsd,
  disbelievedCost,
  isBelievable,
  maxPurchaseUsd,
  reportedCostUsd,
} from '../../../src/contract/micro-dollars.js';
import { WideColumn } from '../../../runners/batch/journal/rows/column.js';

describe('micro-dollars', () => {
  it('are the prices of the specification', () => {
    expect(Object.values(imageEditPrices).map(toUsd)).toEqual([0.0875, 0.13, 0.175]);
    expect([0.0875, 0.13, 0.175].map(toMicroDollars)).toEqual(Object.values(imageEditPrices));
  });

  it('add up where dollars do not', () => {
    expect(0.1 + 0.2).not.toBe(0.3);
    expect(toUsd(toMicroDollars(0.1) + toMicroDollars(0.2))).toBe(0.3);
  });

  it('are never 0 for what is not free', () => {
    expect([0, 4e-7, 1e-12, 6e-7, 1.4e-6].map(toMicroDollars)).toEqual([0, 1, 1, 1, 1]);
  });

  it('come back the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (micro) => toMicroDollars(toUsd(micro)) === micro),
    );
  });
});

const believed = [0, 0.0875, 12, maxPurchaseUsd];
const absent = [
  undefined,
  null,
  'text',
  [],
  {},
  { cost: null },
  { cost: 'free' },
  { cost: '3 apples' },
  { cost: 'v1' },
  { cost: '$' },
  { cost: '' },
  { cost: {} },
  { cost: [] },
  { cost: { currency: 'USD' } },
  { price: 1 },
];
const figures = [
  ...[-0.01, -Infinity, Infinity, Number.NaN, 1e12, maxPurchaseUsd + 1, '0.13', ' 1e3 ', '-1'],
  ...['$95.00', '-$5', 'US$ 95', 'USD 95', '95.00USD', '0,0875', '0.09 €', "1'234.50 CHF", '1.234,50 €'],
];

describe('reportedCostUsd', () => {
  it.each(believed)('is %d', (cost) => {
    expect(reportedCostUsd({ cost })).toBe(cost);
    expect(disbelievedCost({ cost }, null)).toBeUndefined();
  });

  it.each(absent)('is not reported by %j [fault 3]', (output) => {
    expect(reportedCostUsd(output)).toBeNull();
    expect(disbelievedCost(output, 87_500)).toBeUndefined();
  });

  it.each(figures)('is not believed of %j', (cost) => {
    expect(reportedCostUsd({ cost })).toBeNull();
    const written = typeof cost === 'string' ? JSON.stringify(cost) : String(cost);
    expect(disbelievedCost({ cost }, null)).toBe(written);
  });

  it.each([{ amount: 95, currency: 'USD' }, ['$95.00'], { total: { usd: 0.09 } }])(
    'is not believed of %j, where a price is expected',
    (cost) => {
      expect(reportedCostUsd({ cost })).toBeNull();
      expect(disbelievedCost({ cost }, 87_500)).toBe(JSON.stringify(cost));
      expect([null, 0].map((estimate) => disbelievedCost({ cost }, estimate))).toEqual([
        undefined,
        undefined,
      ]);
    },
  );
});

describe('isBelievable', () => {
  it('is true up to a thousand times the expected price', () => {
    expect(isBelievable(87_500_000, 87_500)).toBe(true);
    expect(isBelievable(87_500_001, 87_500)).toBe(false);
    expect(disbelievedCost({ cost: 87_500 }, 87_500)).toBe('87500');
    expect(disbelievedCost({ cost: 87.5 }, 87_500)).toBeUndefined();
  });

  it.each([null, 0, Number.NaN])('has the bound of the books alone where %s is expected', (estimate) => {
    expect(isBelievable(toMicroDollars(maxPurchaseUsd), estimate)).toBe(true);
    expect(isBelievable(toMicroDollars(maxPurchaseUsd) + 1, estimate)).toBe(false);
  });

  it('is true of nothing that the journal cannot hold', () => {
    expect(toMicroDollars(maxPurchaseUsd)).toBeLessThanOrEqual(WideColumn.max);
  });
});
