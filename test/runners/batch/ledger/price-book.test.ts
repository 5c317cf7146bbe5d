import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assumePrice, createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import type { Priced } from '../../../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../../../runners/batch/ledger/price-list.js';

const edit: Priced = { kind: 'edit', endpoint: 'image-edit', resolution: '2k' };
const job: Priced = { kind: 'job', endpoint: 'upscale' };
const route: Priced = { kind: 'route', endpoint: '' };

describe('createPriceBook', () => {
  it.each([
    ['1k', 87_500],
    ['2k', 130_000],
    ['4k', 175_000],
    [undefined, 87_500],
    ['8k', null],
  ])('has the published price of an edit at %s (spec 8)', (resolution, price) => {
    expect(
      createPriceBook().priceOf({
        ...edit,
        ...(resolution === undefined ? { resolution: undefined } : { resolution }),
      }),
    ).toBe(price);
  });

  it('knows no price of a job or a route by itself', () => {
    expect([createPriceBook().priceOf(job), createPriceBook().priceOf(route)]).toEqual([null, null]);
  });

  it('takes the prices of a file: by endpoint and resolution, a job, a second, a call', () => {
    const book = createPriceBook(
      toPriceList({
        edit: { '2k': 0.2 },
        endpoints: {
          mine: { usdPerPicture: { '1k': 0.01, '2k': 0.02 } },
          upscale: { usdPerJob: 0.05 },
          slow: { usdPerSecond: 0.00034, reserveSeconds: 20 },
          open: { usdPerSecond: 0.00034 },
        },
        route: 0.001,
      }),
    );
    const priceOf = (row: Partial<Priced>): number | null => book.priceOf({ ...edit, ...row });
    expect([
      priceOf({}),
      priceOf({ resolution: '4k' }),
      priceOf({ endpoint: 'mine' }),
      priceOf({ endpoint: 'mine', resolution: '4k' }),
    ]).toEqual([...[200_000, 175_000, 20_000, null]]);
    expect([book.priceOf(job), book.priceOf(route)]).toEqual([50_000, 1_000]);
    expect([priceOf({ kind: 'job', endpoint: 'slow' }), priceOf({ kind: 'job', endpoint: 'open' })]).toEqual([
      6_800,
      null,
    ]);
    expect(book.estimate({ kind: 'job', endpoint: 'open' }, 12_345)).toBe(4_198);
    expect(book.estimate({ kind: 'job', endpoint: 'open' }, undefined)).toBeNull();
    expect([book.estimate(job, 5), book.estimate(route, 5), book.estimate(edit, 5)]).toEqual([
      50_000, 1_000, 200_000,
    ]);
  });

  it('leaves the price of a job of an old journal, which has no resolution, as it was reserved', () => {
    const list = toPriceList({ endpoints: { upscale: { usdPerPicture: { '1k': 0.02, '4k': 0.16 } } } });
    for (const book of [createPriceBook(list), assumePrice(createPriceBook(list), 5_000)]) {
      expect([book.estimate(job, 5), book.observe(job, 20_000)]).toEqual([null, 'as-expected']);
      expect(book.estimate({ ...job, resolution: '4k' }, 5)).toBe(160_000);
      expect(book.priceOf(job)).toBe(160_000);
    }
  });

  it('reserves the dearer of the book and the highest price reported', () => {
    const book = createPriceBook();
    book.observe(edit, 100_000);
    expect(book.priceOf(edit)).toBe(130_000);
    book.observe(edit, 150_000);
    book.observe(edit, 140_000);
    expect(book.priceOf(edit)).toBe(150_000);
    expect(book.priceOf({ ...edit, endpoint: 'another' })).toBe(130_000);
    expect(book.priceOf({ ...edit, resolution: '1k' })).toBe(87_500);
    book.observe(job, 30);
    expect(book.priceOf(job)).toBe(30);
  });

  it('takes an edit without a resolution for one at 1k, also in what was reported', () => {
    const book = createPriceBook();
    book.observe({ kind: 'edit', endpoint: 'image-edit' }, 90_000);
    expect(book.priceOf({ kind: 'edit', endpoint: 'image-edit', resolution: '1k' })).toBe(90_000);
  });

  it('tells of a mismatch once, and again only of a dearer one', () => {
    const book = createPriceBook();
    expect(book.observe(edit, 130_000)).toBe('as-expected');
    expect(book.observe(edit, 143_000)).toEqual({
      expected: 130_000,
      reported: 143_000,
      first: true,
      drift: expect.closeTo(0.1),
    });
    expect(book.observe(edit, 143_000)).toBe('as-expected');
    expect(book.observe(edit, 120_000)).toBe('as-expected');
    expect(book.observe(edit, 260_000)).toEqual({
      expected: 130_000,
      reported: 260_000,
      first: false,
      drift: 1,
    });
    expect(book.observe({ ...edit, resolution: '1k' }, 80_000)).toMatchObject({
      first: true,
      expected: 87_500,
    });
  });

  it('finds nothing wrong where the book has no price', () => {
    expect(createPriceBook().observe(job, 1)).toBe('as-expected');
  });

  it('sees an infinite drift where nothing was expected', () => {
    expect(createPriceBook(toPriceList({ route: 0 })).observe(route, 1)).toMatchObject({ drift: Infinity });
  });

  it('tells how much dearer than the book the highest reported price is', () => {
    const book = createPriceBook();
    expect(book.driftOf(edit)).toBe(0);
    book.observe(edit, 120_000);
    expect(book.driftOf(edit)).toBe(0);
    book.observe(edit, 143_000);
    expect(book.driftOf(edit)).toBeCloseTo(0.1);
    expect(book.driftOf({ ...edit, resolution: '1k' })).toBe(0);
    book.observe(job, 5);
    expect(book.driftOf(job)).toBe(0);
  });

  it('takes no binary fraction for a millionth of a dollar', () => {
    const book = createPriceBook(toPriceList({ endpoints: { u: { usdPerSecond: 0.0004 } } }));
    const times = [1_000, 2_500, 3_000, 7_000, 30_000];
    expect(times.map((ms) => book.estimate({ kind: 'job', endpoint: 'u' }, ms))).toEqual(
      times.map((ms) => (ms / 1_000) * 400),
    );
  });

  it('tells the table that it went by', () => {
    const book = createPriceBook();
    book.observe(edit, 140_000);
    expect(book.table().reported).toEqual([{ ...edit, expected: 130_000, highest: 140_000 }]);
    expect(book.table().book.edit).toEqual({ '1k': 87_500, '2k': 130_000, '4k': 175_000 });
  });

  it('never reserves less than any price reported before', () => {
    const rows = fc.constantFrom<Priced>(edit, { ...edit, resolution: '1k' }, job, route);
    fc.assert(
      fc.property(fc.array(fc.tuple(rows, fc.nat(300_000))), (reports) => {
        const book = createPriceBook();
        for (const [row, reported] of reports) book.observe(row, reported);
        for (const [row, reported] of reports) expect(book.priceOf(row)).toBeGreaterThanOrEqual(reported);
      }),
    );
  });
});
