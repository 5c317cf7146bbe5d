import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ageGrid } from '../../../../src/policy/learning/age-grid.js';

describe('ageGrid', () => {
  it('reaches from 10 ms to some hours in steps of one per cent', () => {
    expect(ageGrid.edges[0]).toBe(10);
    expect(ageGrid.edges[ageGrid.bins]).toBeGreaterThan(6 * 3_600_000);
    expect(ageGrid.edges[1]! / ageGrid.edges[0]!).toBeCloseTo(1.01, 10);
  });

  test.prop([fc.double({ min: 10.001, max: 3e7, noNaN: true })])('finds the bin that holds an age', (age) => {
    const bin = ageGrid.binOf(age);
    expect(ageGrid.edges[bin]!).toBeLessThanOrEqual(age * 1.000001);
    if (bin < ageGrid.bins - 1) expect(ageGrid.edges[bin + 1]! * 1.000001).toBeGreaterThanOrEqual(age);
  });

  it('puts what is off the grid into its first and last bin', () => {
    expect([ageGrid.binOf(0), ageGrid.binOf(-5), ageGrid.binOf(Number.NaN)]).toEqual([0, 0, 0]);
    expect(ageGrid.binOf(1e12)).toBe(ageGrid.bins - 1);
  });
});
