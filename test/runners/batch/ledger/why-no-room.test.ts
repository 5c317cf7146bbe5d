import { describe, expect, it } from 'vitest';
import { DayBook } from '../../../../runners/batch/ledger/day-book.js';
import { whyNoRoom } from '../../../../runners/batch/ledger/day-ledger.js';

const wanted = { price: 500_000, cap: 2_000_000, run: '/mine', path: '/state/ledger.jsonl', now: 120_000 };

function bookOf(...reserved: readonly (readonly [run: string, amount: number])[]): DayBook {
  const book = new DayBook();
  book.apply({ k: 'spent', at: 0, amount: 250_000 });
  for (const [run, amount] of reserved) book.apply({ k: 'reserve', at: 60_000, run, id: 'a', amount });
  return book;
}

describe('whyNoRoom', () => {
  it('tells what is spent, what is reserved, and when there will be room', () => {
    const why = whyNoRoom(bookOf(['/mine', 1_500_000]), wanted);
    expect(why).toContain('$0.50 does not fit under the $2.00 a day of /state/ledger.jsonl');
    expect(why).toContain('$0.25 were spent, and $1.50 are reserved. What');
    expect(why).toContain('It will fit at 1970-01-02T00:01:00.000Z at the latest.');
  });

  it('names who else has reserved', () => {
    expect(whyNoRoom(bookOf(['/mine', 500_000], ['/x', 1_000_000]), wanted)).toContain(
      '$1.50 are reserved ($1.00 of it by /x).',
    );
    expect(whyNoRoom(bookOf(['/x', 500_000], ['/y', 1_000_000]), wanted)).toContain(
      '($1.50 of it by /x and 1 more)',
    );
  });

  it('says what to do about entries of a clock that was wrong', () => {
    const book = bookOf(['/mine', 1_250_000]);
    expect(whyNoRoom(book, wanted)).not.toContain('future');
    const year = 365 * 86_400_000;
    book.apply({ k: 'spent', at: year, amount: 1_750_000 });
    const why = whyNoRoom(book, wanted);
    expect(why).toContain('It will fit at 1971-01-02T00:01:00.000Z at the latest.');
    expect(why).toContain('lie in the future: the clock was wrong when they were written');
  });

  it('does not take the rest of the minute in which money was just spent for the future', () => {
    const now = 120_500;
    const book = new DayBook();
    book.apply({ k: 'spent', at: now, amount: 2_000_000 });
    expect(whyNoRoom(book, { ...wanted, now })).not.toContain('future');
  });

  it('says that it will never fit', () => {
    expect(whyNoRoom(bookOf(), { ...wanted, price: 2_000_001 })).toContain('It will not fit at all.');
  });
});
