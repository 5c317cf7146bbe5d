import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ageGrid } from '../../../../src/policy/learning/age-grid.js';
import { createRunTimeLaw } from '../../../../src/policy/learning/run-time-law.js';
import { lognormalRunTimes } from '../../../bench/polling/laws.js';

const quantile = (mass: Float64Array, share: number) => {
  let sum = 0;
  for (let bin = 0; bin < mass.length; bin += 1) {
    sum += mass[bin]!;
    if (sum >= share) return ageGrid.edges[bin]!;
  }
  return Number.POSITIVE_INFINITY;
};

describe('createRunTimeLaw', () => {
  test.prop([
    fc.array(fc.double({ min: 0, max: 1e8, noNaN: true }), { maxLength: 60 }),
    fc.array(fc.integer({ min: 0, max: 1e7 }), { maxLength: 20 }),
  ])('is a law whatever it was told: masses above zero that sum to one', (samples, running) => {
    const law = createRunTimeLaw();
    samples.forEach((sample) => law.observe(sample));
    law.massGiven([]);
    const mass = law.massGiven(running);
    expect(Math.min(...mass)).toBeGreaterThan(0);
    expect(mass.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 1);
  });

  it('knows the median after ten samples and the spread after two hundred', () => {
    const law = createRunTimeLaw();
    const draw = lognormalRunTimes(8_000, 0.4, 3);
    for (let n = 0; n < 10; n += 1) law.observe(draw(n));
    const median = quantile(law.massGiven([]), 0.5);
    expect(median).toBeGreaterThan(5_500);
    expect(median).toBeLessThan(11_500);
    for (let n = 10; n < 200; n += 1) law.observe(draw(n));
    const mass = law.massGiven([]);
    expect(quantile(mass, 0.1) / (8_000 * Math.exp(-1.2816 * 0.4))).toBeCloseTo(1, 0);
    expect(quantile(mass, 0.9) / (8_000 * Math.exp(1.2816 * 0.4))).toBeCloseTo(1, 0);
  });

  it('counts jobs that still run: they will end later than they have run', () => {
    const told = (running: number[]) => {
      const law = createRunTimeLaw();
      for (let n = 0; n < 12; n += 1) law.observe(1_000 + n);
      law.massGiven([]);
      return quantile(law.massGiven(running), 0.7);
    };
    expect(told(Array.from({ length: 12 }, () => 5_000))).toBeGreaterThan(5_000);
    expect(told([])).toBeLessThan(2_000);
  });

  it('forgets at once what was before a sudden change', () => {
    const law = createRunTimeLaw();
    const draw = lognormalRunTimes(8_000, 0.4, 5);
    for (let n = 0; n < 100; n += 1) law.observe(draw(n));
    for (let n = 0; n < 16; n += 1) law.observe(draw(100 + n) / 4);
    expect(law.samples).toBeLessThan(40);
    expect(quantile(law.massGiven([]), 0.5)).toBeLessThan(3_500);
  });

  it('goes on from what an earlier start kept', () => {
    const first = createRunTimeLaw();
    for (let n = 0; n < 50; n += 1) first.observe(2_000 + n);
    const kept = JSON.parse(JSON.stringify(first.keep())) as ReturnType<typeof first.keep>;
    const second = createRunTimeLaw(kept);
    expect(second.samples).toBe(50);
    expect(quantile(second.massGiven([]), 0.5)).toBeCloseTo(quantile(first.massGiven([]), 0.5), -2);
  });
});
