import { describe, expect, it } from 'vitest';
import { reportedCostUsd } from '../../../src/contract/reported-cost.js';

describe('reportedCostUsd', () => {
  it.each([0, 0.0875, 12])('is %d', (cost) => {
    expect(reportedCostUsd({ cost })).toBe(cost);
  });

  it.each([
    undefined,
    null,
    'text',
    [],
    {},
    { cost: null },
    { cost: Number.NaN },
    { cost: -0.01 },
    { cost: Infinity },
    { cost: 1e12 },
    { cost: '0.13' },
    { price: 1 },
  ])('is not reported by %j', (output) => {
    expect(reportedCostUsd(output)).toBeNull();
  });
});
