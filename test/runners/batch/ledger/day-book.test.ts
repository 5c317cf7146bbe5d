import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DayBook, type DayEntry } from '../../../../runners/batch/ledger/day-book.js';

const hour = 3_600_000;
const day = 24 * hour;

function bookOf(...entries: DayEntry[]): DayBook {
  const book = new DayBook();
  for (const entry of entries) book.apply(entry);
  return book;
}

function reserve(at: number, amount: number, id = 'a', run = '/one'): DayEntry {
  return { k: 'reserve', at, run, id, amount };
}
function settle(at: number, amount: number, id = 'a', run = '/one'): DayEntry {
  return { k: 'settle', at, run, id, amount };
}

describe('DayBook', () => {
  it('counts a reservation until it is ended, and what it cost for 24 hours', () => {
    const book = bookOf(reserve(0, 10));
    expect([book.spent, book.reserved]).toEqual([0, 10]);
    book.apply(settle(hour, 7));
    expect([book.spent, book.reserved]).toEqual([7, 0]);
    book.expire(hour + day - 1);
    expect(book.spent).toBe(7);
    book.expire(hour + day + 60_000);
    expect(book.spent).toBe(0);
  });

  it('frees what a dead run reserved after 24 hours', () => {
    const book = bookOf(reserve(0, 10), reserve(5, 20, 'b'));
    book.expire(day);
    expect(book.reserved).toBe(20);
    book.expire(day + 5);
    expect(book.reserved).toBe(0);
  });

  it('ends the latest reservation of a row that was bought twice', () => {
    const book = bookOf(reserve(0, 10), reserve(1, 20), settle(2, 15));
    expect([book.spent, book.reserved]).toEqual([15, 10]);
    book.apply({ k: 'release', at: 3, run: '/one', id: 'a' });
    expect(book.reserved).toBe(0);
  });

  it('keeps runs apart that have rows of one name', () => {
    const book = bookOf(reserve(0, 10, 'a', '/one'), reserve(0, 20, 'a', '/two'), settle(1, 5, 'a', '/two'));
    expect(book.outstanding('/one')).toEqual([{ at: 0, run: '/one', id: 'a', amount: 10 }]);
    expect(book.outstanding('/two')).toEqual([]);
  });

  it('counts what another clock puts into the future', () => {
    const book = bookOf(reserve(2 * day, 10), settle(3 * day, 20, 'b'));
    book.expire(0);
    expect([book.spent, book.reserved]).toEqual([20, 10]);
  });

  it('tells when there will be room', () => {
    const book = bookOf(reserve(2 * hour, 30), settle(hour, 20, 'b'));
    expect(book.roomAt(20)).toBe(hour + 60_000 + day);
    expect(book.roomAt(21)).toBe(2 * hour + day);
    expect(book.roomAt(51)).toBeUndefined();
  });

  it('means the same when it is written anew', () => {
    fc.assert(
      fc.property(fc.array(anyEntry(), { maxLength: 40 }), fc.nat(3 * day), (entries, now) => {
        const book = bookOf(...entries);
        book.expire(now);
        const again = bookOf(...book.compact());
        again.expire(now);
        expect([again.spent, again.reserved]).toEqual([book.spent, book.reserved]);
        const byPlace = (a: object, b: object): number => JSON.stringify(a).localeCompare(JSON.stringify(b));
        expect(again.outstanding().sort(byPlace)).toEqual(book.outstanding().sort(byPlace));
      }),
    );
  });

  it('never counts less than every entry of the last 24 hours, nor more than those of one minute longer', () => {
    fc.assert(
      fc.property(fc.array(anyEntry(), { maxLength: 40 }), fc.nat(3 * day), (entries, now) => {
        const book = bookOf(...entries);
        book.expire(now);
        const spentSince = (start: number): number =>
          entries.reduce(
            (sum, entry) =>
              sum + ((entry.k === 'settle' || entry.k === 'spent') && entry.at > start ? entry.amount : 0),
            0,
          );
        expect(book.spent).toBeGreaterThanOrEqual(spentSince(now - day));
        expect(book.spent).toBeLessThanOrEqual(spentSince(now - day - 60_000));
        expect(book.reserved).toBe(reservedAt(entries, now));
      }),
    );
  });
});

/** By a plain list. */
function reservedAt(entries: readonly DayEntry[], now: number): number {
  const open: { key: string; at: number; amount: number }[] = [];
  for (const entry of entries) {
    if (entry.k === 'reserve') open.push({ key: entry.run + entry.id, at: entry.at, amount: entry.amount });
    if (entry.k !== 'settle' && entry.k !== 'release') continue;
    const index = open.findLastIndex(({ key }) => key === entry.run + entry.id);
    if (index >= 0) open.splice(index, 1);
  }
  return open.reduce((sum, { at, amount }) => sum + (at > now - day ? amount : 0), 0);
}

function anyEntry(): fc.Arbitrary<DayEntry> {
  const owned = { at: fc.nat(3 * day), run: fc.constantFrom('/one', '/two'), id: fc.constantFrom('a', 'b') };
  const amount = fc.nat(100);
  return fc.oneof(
    fc.record({ k: fc.constant('reserve' as const), ...owned, amount }),
    fc.record({ k: fc.constant('settle' as const), ...owned, amount }),
    fc.record({ k: fc.constant('release' as const), ...owned }),
    fc.record({ k: fc.constant('spent' as const), at: fc.nat(3 * day), amount }),
  );
}
