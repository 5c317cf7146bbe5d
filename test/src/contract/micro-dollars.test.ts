import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageEditPrices, toMicroDollars, toUsd } from '../../../src/contract/micro-dollars.js';

describe('micro-dollars', () => {
  it('are the prices of the specification', () => {
    expect(Object.values(imageEditPrices).map(toUsd)).toEqual([0.0875, 0.13, 0.175]);
    expect([0.0875, 0.13, 0.175].map(toMicroDollars)).toEqual(Object.values(imageEditPrices));
  });

  it('add up where dollars do not', () => {
    expect(0.1 + 0.2).not.toBe(0.3);
    expect(toUsd(toMicroDollars(0.1) + toMicroDollars(0.2))).toBe(0.3);
  });

  it('come back the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (micro) => toMicroDollars(toUsd(micro)) === micro),
    );
  });
});
