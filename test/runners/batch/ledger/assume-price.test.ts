import { describe, expect, it } from 'vitest';
import { assumePrice, createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../../../runners/batch/ledger/price-list.js';

const job = { kind: 'job', endpoint: 'upscale' } as const;
const edit = { kind: 'edit', endpoint: 'image-edit' } as const;

describe('assumePrice', () => {
  const list = toPriceList({ endpoints: { timed: { usdPerSecond: 0.001 } } });
  const book = assumePrice(createPriceBook(list), 5_000);

  it('stands where no price is known, and nowhere else', () => {
    expect([book.priceOf(job), book.priceOf(edit)]).toEqual([5_000, 87_500]);
    expect([book.estimate(job, 100), book.estimate(edit, 100)]).toEqual([5_000, 87_500]);
  });

  it('is no estimate of a time that is known', () => {
    const timed = { kind: 'job', endpoint: 'timed' } as const;
    expect([book.priceOf(timed), book.estimate(timed, 2_000), book.estimate(timed, undefined)]).toEqual([
      5_000, 2_000, 5_000,
    ]);
  });

  it('gives way to what was reported, and says that it was reckoned with', () => {
    const other = { kind: 'job', endpoint: 'other' } as const;
    expect(book.observe(other, 4_000)).toBe('as-expected');
    expect(book.observe(other, 7_000)).toEqual({
      expected: 5_000,
      reported: 7_000,
      first: true,
      drift: expect.closeTo(0.4),
    });
    expect(book.observe(other, 6_000)).toBe('as-expected');
    expect(book.observe(other, 10_000)).toMatchObject({ first: false, drift: 1 });
    expect(book.priceOf(other)).toBe(10_000);
    expect(book.driftOf(other)).toBe(1);
    expect(book.table().assumed).toBe(5_000);
  });
});
