import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoff, defaultBackoff, retryAfterMs, retryDelayMs } from '../../../src/policy/retry-delay.js';

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

describe('retryDelayMs', () => {
  it('is what the service asks for', () => {
    expect(retryDelayMs({ why: 'rate-limited', retryAfterMs: 7_000 }, 3, most)).toBe(7_000);
  });

  it.each([undefined, 0])(
    'is backoff when the service asks for %s: 0 is no leave to hammer',
    (retryAfterMs) => {
      expect(retryDelayMs({ why: 'rate-limited', retryAfterMs }, 3, most)).toBe(2_000);
    },
  );

  it('takes other limits', () => {
    expect(retryDelayMs({ why: 'transient' }, 9, most, { initialMs: 1, factor: 2, maxMs: 5 })).toBe(5);
  });

  it('gives a first worker 5 to 10 s to start', () => {
    expect(retryDelayMs({ why: 'no-workers' }, 1, () => 0)).toBe(5_000);
    expect(retryDelayMs({ why: 'no-workers' }, 4, most)).toBe(10_000);
  });
});

const now = Date.UTC(2026, 10, 21, 12, 0, 0);

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['1', 1_000],
    [' 120 ', 120_000],
    ['1.5', 1_500],
    ['600', 600_000],
    ['601', 600_000],
    ['31536000', 600_000],
    ['99999999999999999999999', 600_000],
  ])('%j seconds → %d ms [fault 4]', (header, waitMs) => {
    expect(retryAfterMs({ 'retry-after': header }, now)).toBe(waitMs);
  });

  it.each([
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
    ['Sat Nov 21 12:00:30 2026', 30_000],
    ['Thu Nov  5 12:00:30 2026', 0],
    ['Sat, 21 Nov 2026 11:59:00 GMT', 0],
    ['Sun, 21 Nov 2027 12:00:00 GMT', 600_000],
  ])('the date %j → %d ms [fault 4]', (header, waitMs) => {
    expect(retryAfterMs({ 'retry-after': header }, now)).toBe(waitMs);
  });

  it.each([
    ['Sat, 21 Nov 2026 15:00:00 GMT', 30_000],
    ['Sat, 21 Nov 2026 15:00:30 GMT', 0],
    ['soon', 600_000],
    [undefined, 600_000],
  ])('a date counts from that of the reply, %j, where the clock here is three hours late', (date, waitMs) => {
    expect(retryAfterMs({ 'retry-after': 'Sat, 21 Nov 2026 15:00:30 GMT', date }, now)).toBe(waitMs);
    expect(retryAfterMs({ 'retry-after': '7', date }, now)).toBe(7_000);
  });

  it.each([
    undefined,
    '',
    '  ',
    '-1',
    '-0.5',
    'soon',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '1, 2',
    '2026-11-21',
    'Sat, 99 Nov 2026 12:00:30 GMT',
    'foo 1',
  ])('cannot read %j [fault 4]', (header) => {
    expect(retryAfterMs({ 'retry-after': header }, now)).toBeUndefined();
  });
});
