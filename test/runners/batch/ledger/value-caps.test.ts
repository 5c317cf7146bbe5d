import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLedger } from '../../../../runners/batch/ledger/ledger.js';
import { ValueCaps } from '../../../../runners/batch/ledger/value-caps.js';

const rowOf = (customer: string, resolution = '1k') => ({
  kind: 'edit',
  endpoint: 'image-edit',
  resolution,
  cells: { customer },
});
const capsUsd = { customer: 0.0001, resolution: 0.0002 };

describe('caps of values in the ledger', () => {
  it('leave room by value, to the millionth, and name the first value that is full', () => {
    const ledger = createLedger({ byValue: { capsUsd } });
    expect(ledger.reserve('a', 60, rowOf('acme'))).toBe(true);
    expect(ledger.fullValue?.(41, rowOf('acme'))).toEqual({
      column: 'customer',
      value: 'acme',
      cap: 100,
      taken: 60,
    });
    expect(ledger.reserve('b', 41, rowOf('acme'))).toBe(false);
    expect(ledger.reserve('b', 40, rowOf('acme'))).toBe(true);
    expect(ledger.reserve('c', 100, rowOf('beta'))).toBe(true);
    expect(ledger.fullValue?.(1, rowOf('gamma'))).toMatchObject({
      column: 'resolution',
      value: '1k',
      taken: 200,
    });
    expect(ledger.fullValue?.(null, rowOf('gamma', '2k'))).toMatchObject({ column: 'customer' });
    ledger.release('a');
    expect(ledger.fullValue?.(60, rowOf('acme'))).toBeUndefined();
  });

  it('count what earlier starts have taken, reservations among it once', () => {
    const taken = new Map([['customer', new Map([['acme', 90]])]]);
    const ledger = createLedger({ reserved: [['p', 50, rowOf('acme')]], byValue: { capsUsd, taken } });
    expect(ledger.reserve('a', 11, rowOf('acme'))).toBe(false);
    ledger.settle('p', 45);
    expect(ledger.reserve('a', 15, rowOf('acme'))).toBe(true);
    expect(ledger.reserve('b', 1, rowOf('acme'))).toBe(false);
  });

  it('are never crossed: what is reserved, spent and unknown for a value stays below its cap, over any steps', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      customer: fc.constantFrom('acme', 'beta', ''),
      what: fc.constantFrom('reserve', 'reserve', 'settle', 'release', 'keepUnknown'),
      amount: fc.nat(70),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (given) => {
        const ledger = createLedger({ byValue: { capsUsd: { customer: 0.0001 } } });
        const open = new Map<string, { customer: string; price: number }>();
        const taken = new Map<string, number>();
        const add = (customer: string, amount: number): unknown =>
          taken.set(customer, (taken.get(customer) ?? 0) + amount);
        for (const { id, customer, what, amount } of given) {
          const hold = open.get(id);
          if (what === 'reserve') {
            if (hold !== undefined) continue;
            const fits = (taken.get(customer) ?? 0) + amount <= 100;
            expect(ledger.reserve(id, amount, rowOf(customer))).toBe(fits);
            if (!fits) continue;
            open.set(id, { customer, price: amount });
            add(customer, amount);
          } else if (hold !== undefined) {
            open.delete(id);
            // Never dearer than what was reserved for it.
            const cost = Math.min(amount, hold.price);
            if (what === 'settle') ledger.settle(id, cost);
            else ledger[what](id);
            if (what !== 'keepUnknown') add(hold.customer, (what === 'settle' ? cost : 0) - hold.price);
            // Held under no name from here on: the row may be bought again.
          }
          for (const amount of taken.values()) expect(amount).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('keep values apart up to a hundred thousand: what further ones take counts for every value', () => {
    const caps = new ValueCaps({ capsUsd: { customer: 0.0001 } });
    for (let index = 0; index < 100_001; index++) caps.add([`c${index}`], 40);
    expect(caps.full(['c7'], 20)).toBeUndefined();
    expect(caps.full(['c7'], 21)).toMatchObject({ taken: 80 });
    expect(caps.full(['new'], 60)).toBeUndefined();
    expect(caps.full(['new'], 61)).toMatchObject({ taken: 40 });
  });
});
