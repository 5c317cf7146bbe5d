import { describe, expect, it } from 'vitest';
import type { Purchase } from '../../../../runners/report/read/read-costs.js';
import type { Charge } from '../../../../runners/report/reconcile/read-charges.js';
import { ChargeSearch, claimsOn, isWithin } from '../../../../runners/report/reconcile/suspect-charges.js';

const hour = 3_600_000;
const price = 87_500;

const charge = (place: number, facts: Partial<Charge> = {}): Charge => ({
  jobId: `job-${place}`,
  lines: [place + 2],
  amount: price,
  at: place * hour,
  ...facts,
});

const purchase = (at: number, cost = price): Purchase => ({
  id: 'a',
  row: 1,
  attempt: 1,
  jobId: '',
  resolution: '1k',
  cost,
  source: 'unknown',
  at,
});

describe('the charges that may be those of a purchase in doubt', () => {
  it('are all that fit by time and price, whatever the times of the others', () => {
    const charges = Array.from({ length: 40 }, (_, place) =>
      charge((place * 17) % 40, {
        ...(place % 9 === 0 && { slackMs: 5 * hour }),
        ...(place % 4 === 0 && { amount: 2 * price }),
      }),
    );
    const { at, ...timeless } = charge(99);
    const all = [...charges, timeless];
    const search = new ChargeSearch(all);
    expect(at).toBe(99 * hour);
    for (let from = 0; from < 40; from += 3)
      for (const to of [from, from + 4, from + 20]) {
        const { charges: found, hasMore } = search.suspectsOf(purchase(to * hour), from * hour);
        const fitting = all.filter((one) => one.amount === price && isWithin(one, from * hour, to * hour));
        expect(new Set(found)).toEqual(new Set(fitting));
        expect(hasMore).toBe(false);
      }
  });

  it('are named up to fifty: rows in doubt and charges of one outage are not multiplied', () => {
    const charges = Array.from({ length: 300 }, (_, place) => charge(place, { at: place }));
    const search = new ChargeSearch(charges);
    const held = charges.map((_, place) => search.suspectsOf(purchase(place), place));
    expect(held.map((one) => [one.charges.length, one.hasMore])).toEqual(held.map(() => [50, true]));
    const claims = claimsOn(held);
    expect(charges.map((one) => claims(one))).toEqual(charges.map((_, place) => (place < 50 ? 300 : 1)));
  });

  it('are claimed by a purchase that does not name them, too', () => {
    const charges = Array.from({ length: 80 }, (_, place) => charge(place));
    const search = new ChargeSearch(charges);
    const many = search.suspectsOf(purchase(79 * hour), 0);
    const one = search.suspectsOf(purchase(81 * hour), 80 * hour);
    expect([many.charges.length, one.charges]).toEqual([50, [charges[79]]]);
    expect(many.charges).not.toContain(charges[79]);
    expect(claimsOn([many, one])(charges[79]!)).toBe(2);
    expect(claimsOn([one])(charges[79]!)).toBe(1);
    expect(claimsOn([one])(charges[78]!)).toBe(0);
  });
});
