import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ageGrid } from '../../../../src/policy/polling/run-time-distribution.js';
import { planPolls, priceOfCall } from '../../../../src/policy/polling/plan-polls.js';

const normalMass = (medianMs: number, sigma: number) => {
  const raw = Float64Array.from({ length: ageGrid.bins }, (_, bin) =>
    Math.exp(-((Math.log((ageGrid.edges[bin] ?? 0) / medianMs) / sigma) ** 2) / 2),
  );
  const total = raw.reduce((sum, value) => sum + value, 0);
  return raw.map((value) => value / total);
};

/** Expected lag plus price of the calls when a job is asked at these ages. */
const costOf = (mass: Float64Array, ages: readonly number[], msPerCall: number) => {
  let cost = 0;
  let alive = 1;
  let from = 0;
  for (const age of ages) {
    cost += priceOfCall(age, msPerCall) * alive;
    const to = ageGrid.binOf(age * 1.0001);
    for (let bin = from; bin < to; bin += 1) {
      const middle = ((ageGrid.edges[bin] ?? 0) + (ageGrid.edges[bin + 1] ?? 0)) / 2;
      cost += (mass[bin] ?? 0) * (age - middle);
      alive -= mass[bin] ?? 0;
    }
    from = to;
  }
  return { cost, alive };
};

const agesOf = (mass: Float64Array, msPerCall: number) => {
  const plan = planPolls(mass, msPerCall);
  const ages = [plan.nextAgeMs(0)];
  while (costOf(mass, ages, msPerCall).alive > 1e-6 && ages.length < 2_000)
    ages.push(plan.nextAgeMs(ages.at(-1)!));
  return ages;
};

describe('planPolls', () => {
  test.prop(
    [
      fc.integer({ min: 20, max: 60_000 }),
      fc.double({ min: 0.1, max: 1.2, noNaN: true }),
      fc.integer({ min: 50, max: 3_000 }),
      fc.array(fc.double({ min: 0.8, max: 1.25, noNaN: true }), { minLength: 30, maxLength: 30 }),
    ],
    { numRuns: 40 },
  )('no moved poll times cost less under the same distribution', (medianMs, sigma, msPerCall, moves) => {
    const mass = normalMass(medianMs, sigma);
    const best = agesOf(mass, msPerCall);
    const moved = best.map((age, index) => age * (moves[index] ?? 1)).sort((a, b) => a - b);
    const last = Math.max(best.at(-1)!, moved.at(-1)!);
    const snap = (age: number) => ageGrid.edges[ageGrid.binOf(age * 1.0001)]!;
    const cost = costOf(mass, [...best, last], msPerCall).cost;
    expect(cost).toBeLessThanOrEqual(costOf(mass, [...moved.map(snap), last], msPerCall).cost * 1.001 + 1);
  });

  it('asks less when a call is dearer', () => {
    const mass = normalMass(8_000, 0.4);
    expect(agesOf(mass, 50).length).toBeGreaterThan(agesOf(mass, 500).length);
  });

  it('moves on from every age, beyond the grid too', () => {
    const plan = planPolls(normalMass(1_000, 0.5), 100);
    for (const age of [0, 1, 9.99, 10, 999, 1e6, 1e9]) expect(plan.nextAgeMs(age)).toBeGreaterThan(age);
  });
});
