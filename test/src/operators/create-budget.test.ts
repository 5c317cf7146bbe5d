import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../src/operators/budget/create-budget.js';

describe('createBudget', () => {
  it('reserves up to the cap, to the millionth', () => {
    const budget = createBudget(0.25);
    const [a, b, c] = [{}, {}, {}];
    expect(budget.reserve(a, 87_500)).toBe(true);
    expect(budget.reserve(b, 162_500)).toBe(true);
    expect(budget.reserve(c, 1)).toBe(false);
    expect(budget.state()).toStrictEqual({ capUsd: 0.25, reservedUsd: 0.25, spentUsd: 0, unknownUsd: 0 });
    budget.release(b);
    expect(budget.reserve(c, 162_500)).toBe(true);
  });

  it('lets a purchase join its own reservation, and frees it when the last has released it', () => {
    const budget = createBudget(1);
    const purchase = {};
    expect([budget.reserve(purchase, 900_000), budget.reserve(purchase, 900_000)]).toStrictEqual([
      true,
      true,
    ]);
    budget.release(purchase);
    expect(budget.state().reservedUsd).toBe(0.9);
    budget.release(purchase);
    expect(budget.state().reservedUsd).toBe(0);
  });

  it('does not take a purchase for counted whose reservation was released', () => {
    const budget = createBudget(1);
    const purchase = {};
    budget.reserve(purchase, 900_000, 'job a');
    budget.release(purchase);
    budget.reserve({}, 900_000, 'job a');
    expect(budget.state().reservedUsd).toBe(0.9);
  });

  it('keeps what may be paid until it is settled', () => {
    const budget = createBudget(1);
    const purchase = {};
    budget.reserve(purchase, 400_000);
    budget.keep(purchase);
    budget.keep(purchase);
    budget.release(purchase);
    expect(budget.state()).toMatchObject({ reservedUsd: 0, unknownUsd: 0.4 });
    budget.settle(purchase, 300_000);
    budget.settle(purchase, 300_000);
    expect(budget.state()).toMatchObject({ unknownUsd: 0, spentUsd: 0.3 });
  });

  it('does not know what was never reserved', () => {
    const budget = createBudget(1);
    budget.release({});
    budget.keep({});
    budget.settle({}, 5);
    expect(budget.state()).toStrictEqual({ capUsd: 1, reservedUsd: 0, spentUsd: 0, unknownUsd: 0 });
  });

  it('recognises by their addresses the last 10,000 that have ended, and all that have not', () => {
    const budget = createBudget(1);
    budget.reserve({}, 1, 'running');
    for (let bought = 0; bought <= 10_000; bought += 1) {
      const purchase = {};
      budget.reserve(purchase, 1);
      budget.identify?.(purchase, `job ${bought}`);
      budget.settle(purchase, 1);
    }
    for (const known of ['running', 'job 1', 'job 10000']) budget.reserve({}, 100_000, known);
    expect(budget.state().reservedUsd).toBe(0.000_001);
    budget.reserve({}, 100_000, 'job 0');
    expect(budget.state().reservedUsd).toBe(0.100_001);
  });

  it('refuses a cap that is none', () => {
    expect(() => createBudget(-1)).toThrow('capUsd');
    expect(() => createBudget(Number.NaN)).toThrow('capUsd');
    expect(createBudget(Number.POSITIVE_INFINITY).reserve({}, 1)).toBe(true);
  });

  const step = fc.record({
    row: fc.nat(9),
    price: fc.nat(500_000),
    what: fc.constantFrom('reserve', 'release', 'keep', 'settle'),
  });
  test.prop([fc.array(step, { maxLength: 60 })])('never passes the cap, and always adds up', (steps) => {
    const budget = createBudget(1);
    const rows = Array.from({ length: 10 }, () => ({}));
    const held = new Map<object, number>();
    for (const { row, price, what } of steps) {
      const purchase = rows[row]!;
      if (what === 'reserve') {
        if (budget.reserve(purchase, price) && !held.has(purchase)) held.set(purchase, price);
      } else if (what === 'settle') budget.settle(purchase, Math.min(price, held.get(purchase) ?? 0));
      else budget[what](purchase);
      const { reservedUsd, spentUsd, unknownUsd } = budget.state();
      expect(reservedUsd + spentUsd + unknownUsd).toBeLessThanOrEqual(1 + 1e-9);
      expect(Math.min(reservedUsd, spentUsd, unknownUsd)).toBeGreaterThanOrEqual(0);
    }
  });
});
