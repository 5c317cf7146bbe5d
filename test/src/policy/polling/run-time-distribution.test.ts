import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ageGrid, createRunTimeDistribution } from '../../../../src/policy/polling/run-time-distribution.js';
import { lognormalRunTimes } from '../../../bench/polling/lognormal-run-times.js';

const quantile = (mass: Float64Array, share: number) => {
  let sum = 0;
  for (let bin = 0; bin < mass.length; bin += 1) {
    sum += mass[bin]!;
    if (sum >= share) return ageGrid.edges[bin]!;
  }
  return Number.POSITIVE_INFINITY;
};

describe('createRunTimeDistribution', () => {
  test.prop([
    fc.array(fc.double({ min: 0, max: 1e8, noNaN: true }), { maxLength: 60 }),
    fc.array(fc.integer({ min: 0, max: 1e7 }), { maxLength: 20 }),
  ])('is a distribution whatever it observes: masses above zero that sum to one', (samples, running) => {
    const distribution = createRunTimeDistribution();
    samples.forEach((sample) => distribution.observe(sample));
    distribution.massGiven([]);
    const mass = distribution.massGiven(running);
    expect(Math.min(...mass)).toBeGreaterThan(0);
    expect(mass.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 1);
  });

  it('knows the median after ten samples and the spread after two hundred', () => {
    const distribution = createRunTimeDistribution();
    const draw = lognormalRunTimes(8_000, 0.4, 3);
    for (let n = 0; n < 10; n += 1) distribution.observe(draw(n));
    const median = quantile(distribution.massGiven([]), 0.5);
    expect(median).toBeGreaterThan(5_500);
    expect(median).toBeLessThan(11_500);
    for (let n = 10; n < 200; n += 1) distribution.observe(draw(n));
    const mass = distribution.massGiven([]);
    expect(quantile(mass, 0.1) / (8_000 * Math.exp(-1.2816 * 0.4))).toBeCloseTo(1, 0);
    expect(quantile(mass, 0.9) / (8_000 * Math.exp(1.2816 * 0.4))).toBeCloseTo(1, 0);
  });

  it('counts jobs that still run: they will end later than they have run', () => {
    const seventieth = (running: number[]) => {
      const distribution = createRunTimeDistribution();
      for (let n = 0; n < 12; n += 1) distribution.observe(1_000 + n);
      distribution.massGiven([]);
      return quantile(distribution.massGiven(running), 0.7);
    };
    expect(seventieth(Array.from({ length: 12 }, () => 5_000))).toBeGreaterThan(5_000);
    expect(seventieth([])).toBeLessThan(2_000);
  });

  it('forgets at once what was before a sudden change', () => {
    const distribution = createRunTimeDistribution();
    const draw = lognormalRunTimes(8_000, 0.4, 5);
    for (let n = 0; n < 100; n += 1) distribution.observe(draw(n));
    for (let n = 0; n < 16; n += 1) distribution.observe(draw(100 + n) / 4);
    expect(distribution.samples).toBeLessThan(40);
    expect(quantile(distribution.massGiven([]), 0.5)).toBeLessThan(3_500);
  });

  it('goes on from what an earlier start kept', () => {
    const first = createRunTimeDistribution();
    for (let n = 0; n < 50; n += 1) first.observe(2_000 + n);
    const kept = JSON.parse(JSON.stringify(first.keep())) as ReturnType<typeof first.keep>;
    const second = createRunTimeDistribution(kept);
    expect(second.samples).toBe(50);
    expect(quantile(second.massGiven([]), 0.5)).toBeCloseTo(quantile(first.massGiven([]), 0.5), -2);
  });
});

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
