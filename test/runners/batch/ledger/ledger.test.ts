import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMillraceError } from '../../../../src/contract/millrace-error.js';
import { createLedger } from '../../../../runners/batch/ledger/ledger.js';
import type { Ledger, LedgerSnapshot } from '../../../../runners/batch/ledger/ledger.js';

describe('createLedger', () => {
  it('reserves up to the cap, to the millionth, and no further', () => {
    const ledger = createLedger({ capUsd: 0.3 });
    expect([ledger.reserve('a', 100_000), ledger.reserve('b', 200_000), ledger.reserve('c', 1)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(ledger.snapshot()).toEqual({
      reserved: 300_000,
      spent: 0,
      unknown: 0,
      drift: 0,
      unpriced: 0,
      cap: 300_000,
    });
    ledger.release('a');
    expect(ledger.reserve('c', 100_000)).toBe(true);
  });

  it('counts what earlier starts spent, hold and reserved', () => {
    const ledger = createLedger({ capUsd: 1, spent: 300_000, unknown: 200_000, reserved: [['p', 400_000]] });
    expect(ledger.reserve('a', 100_001)).toBe(false);
    expect(ledger.reserve('a', 100_000)).toBe(true);
    ledger.settle('p', 350_000);
    expect(ledger.snapshot()).toMatchObject({ reserved: 100_000, spent: 650_000, unknown: 200_000 });
  });

  it('lets earlier reservations stand where the cap is lower now', () => {
    const ledger = createLedger({ capUsd: 0.1, reserved: [['p', 400_000]] });
    expect(ledger.snapshot().reserved).toBe(400_000);
    expect(ledger.reserve('a', 0)).toBe(false);
  });

  it('takes an unknown price only where there is no cap', () => {
    expect(createLedger({ capUsd: 10 }).reserve('a', null)).toBe(false);
    const ledger = createLedger();
    expect(ledger.reserve('a', null)).toBe(true);
    expect(ledger.snapshot()).toEqual({ reserved: 0, spent: 0, unknown: 0, drift: 0, unpriced: 1 });
    ledger.settle('a', 5);
    expect(ledger.snapshot()).toMatchObject({ spent: 5, drift: 0, unpriced: 0 });
  });

  it('holds a purchase whose end is not known, apart from the one that follows', () => {
    const ledger = createLedger({ capUsd: 1 });
    ledger.reserve('a', 100_000);
    ledger.keepUnknown('a');
    expect(ledger.reserve('a', 100_000)).toBe(true);
    ledger.settle('a', 90_000);
    expect(ledger.snapshot()).toMatchObject({ reserved: 0, spent: 90_000, unknown: 100_000 });
  });

  it('ends a doubt by a settlement, never by giving back a reservation', () => {
    const ledger = createLedger();
    for (const id of ['a', 'b']) ledger.reserve(id, 10);
    for (const id of ['a', 'b']) ledger.keepUnknown(id);
    ledger.settle('a', 7);
    ledger.release('b');
    expect(ledger.snapshot()).toMatchObject({ reserved: 0, spent: 7, unknown: 10 });
  });

  it('keeps as unknown what nobody can price', () => {
    const ledger = createLedger();
    ledger.reserve('a', 10);
    ledger.settle('a', null);
    expect(ledger.snapshot()).toMatchObject({ reserved: 0, spent: 0, unknown: 10 });
  });

  it('keeps no name of what nobody can price: a million of them take no memory', () => {
    const ledger = createLedger();
    const used = (rows: number): number => {
      for (let row = 0; row < rows; row++) {
        ledger.reserve(`row ${row}`, null);
        ledger.settle(`row ${row}`, null);
      }
      return Object.values(ledger).reduce<number>(
        (sum, part) => sum + (part instanceof Map ? part.size : 0),
        0,
      );
    };
    expect(used(1_000)).toBe(0);
    expect(ledger.snapshot()).toMatchObject({ reserved: 0, spent: 0, unknown: 0, unpriced: 1_000 });
  });

  it('holds a purchase that comes to light, whatever the cap', () => {
    const ledger = createLedger({ capUsd: 0.00001 });
    ledger.hold('a', 25);
    expect(ledger.snapshot()).toMatchObject({ unknown: 25, cap: 10 });
  });

  it('refuses a second reservation of a row: it would be bought twice', () => {
    const ledger = createLedger();
    ledger.reserve('a', 1);
    for (const again of [() => ledger.reserve('a', 1), () => ledger.hold('a', 1)]) {
      expect(again).toThrow('Row "a" has a reservation already.');
    }
    const error: unknown = (() => {
      try {
        return ledger.reserve('a', 1);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(isMillraceError(error) && error.code).toBe('ledger');
  });
});

type Step = {
  readonly id: string;
  readonly do: 'reserve' | 'settle' | 'release' | 'keepUnknown' | 'hold';
  readonly amount: number | null;
};
const step: fc.Arbitrary<Step> = fc.record({
  id: fc.constantFrom('a', 'b', 'c'),
  do: fc.constantFrom('reserve', 'reserve', 'settle', 'release', 'keepUnknown', 'hold'),
  amount: fc.oneof(fc.nat(50), fc.constant(null)),
});

describe('createLedger, over any steps', () => {
  it('agrees with a list of purchases', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.oneof(fc.nat(200), fc.constant(undefined)),
        (steps, cap) => {
          const ledger = createLedger(cap === undefined ? {} : { capUsd: cap / 1_000_000 });
          const model = new Purchases(cap);
          for (const given of steps) {
            expect(apply(ledger, given)).toEqual(model.apply(given));
            expect(ledger.snapshot()).toEqual(model.snapshot());
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('never passes the cap by more than the drift and what was held whatever the cap', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(200), (steps, cap) => {
        const ledger = createLedger({ capUsd: cap / 1_000_000 });
        let held = 0;
        for (const given of steps) {
          if (apply(ledger, given) !== 'refused' && given.do === 'hold') held += given.amount ?? 0;
          const { reserved, spent, unknown, drift } = ledger.snapshot();
          expect(reserved + spent + unknown).toBeLessThanOrEqual(cap + drift + held);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

function apply(ledger: Ledger, { id, do: verb, amount }: Step): unknown {
  try {
    if (verb === 'reserve') return ledger.reserve(id, amount);
    if (verb === 'hold') return ledger.hold(id, amount);
    if (verb === 'settle') return ledger.settle(id, amount);
    return ledger[verb](id);
  } catch {
    return 'refused';
  }
}

interface Purchase {
  id: string | undefined;
  state: 'reserved' | 'unknown' | 'spent';
  price: number | null;
}

class Purchases {
  private all: Purchase[] = [];
  private drift = 0;

  constructor(private readonly cap: number | undefined) {}

  apply({ id, do: verb, amount }: Step): unknown {
    const found = this.all.find((purchase) => purchase.id === id && purchase.state !== 'spent');
    if (verb === 'reserve' || verb === 'hold') {
      if (found?.state === 'reserved') return 'refused';
      const { reserved, spent, unknown } = this.snapshot();
      if (
        verb === 'reserve' &&
        this.cap !== undefined &&
        (amount === null || reserved + spent + unknown + amount > this.cap)
      )
        return false;
      if (found) found.id = undefined;
      this.all.push({ id, state: verb === 'hold' ? 'unknown' : 'reserved', price: amount });
      return verb === 'hold' ? undefined : true;
    }
    if (verb === 'settle' && amount !== null) {
      const isFree = this.cap === undefined && found?.price === null;
      if (!isFree) this.drift += Math.max(amount - (found?.price ?? 0), 0);
      this.all = this.all.filter((purchase) => purchase !== found);
      this.all.push({ id, state: 'spent', price: amount });
    } else if (verb === 'release')
      this.all = this.all.filter((purchase) => purchase !== found || purchase.state === 'unknown');
    else if (found) {
      found.state = 'unknown';
      if (verb === 'settle') found.id = undefined;
    }
    return undefined;
  }

  snapshot(): LedgerSnapshot {
    const sum = (state: Purchase['state']): number =>
      this.all.reduce((total, purchase) => total + (purchase.state === state ? (purchase.price ?? 0) : 0), 0);
    return {
      reserved: sum('reserved'),
      spent: sum('spent'),
      unknown: sum('unknown'),
      drift: this.drift,
      unpriced: this.all.filter(({ price }) => price === null).length,
      ...(this.cap !== undefined && { cap: this.cap }),
    };
  }
}
