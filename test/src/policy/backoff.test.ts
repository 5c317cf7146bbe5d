import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoff, defaultBackoff } from '../../../src/policy/backoff.js';

const least = (): number => 0;
const most = (): number => 1;

describe('backoff', () => {
  it('doubles, half of it certain and half of it chance [fault 4]', () => {
    expect([1, 2, 3, 4].map((failures) => backoff(failures, least))).toEqual([250, 500, 1_000, 2_000]);
    expect([1, 2, 3, 4].map((failures) => backoff(failures, most))).toEqual([500, 1_000, 2_000, 4_000]);
  });

  it('stays at its longest wait, however many tries have failed', () => {
    expect([8, 100, 1e6, Infinity].map((failures) => backoff(failures, most))).toEqual([
      30_000, 30_000, 30_000, 30_000,
    ]);
  });

  it('begins at the start for no failure at all', () => {
    expect(backoff(0, most)).toBe(500);
  });

  it('is always a wait that a timer keeps, whatever it is given', () => {
    const number = fc.double({ noNaN: false });
    fc.assert(
      fc.property(
        number,
        number,
        fc.record({ initialMs: number, factor: number, maxMs: number }),
        (failures, chance, limits) => {
          const waitMs = backoff(failures, () => (Number.isNaN(chance) ? 0 : chance), limits);
          expect(waitMs).toBeGreaterThanOrEqual(0);
          expect(waitMs).toBeLessThan(2 ** 31);
        },
      ),
    );
  });

  it('never waits less than half or more than all', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, chance) => {
          const full = Math.min(defaultBackoff.initialMs * 2 ** (failures - 1), defaultBackoff.maxMs);
          const waitMs = backoff(failures, () => chance);
          expect(waitMs).toBeGreaterThanOrEqual(full / 2);
          expect(waitMs).toBeLessThanOrEqual(full);
        },
      ),
    );
  });
});
