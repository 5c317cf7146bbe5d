import { describe, expect, it } from 'vitest';
import { priceFileSchema, toPriceList } from '../../../../runners/batch/ledger/price-list.js';

describe('toPriceList', () => {
  it('has the published prices by default (spec 8)', () => {
    expect(toPriceList()).toEqual({
      name: 'published',
      edit: { '1k': 87_500, '2k': 130_000, '4k': 175_000 },
      endpoints: new Map(),
      route: null,
    });
  });

  it('keeps what a file does not name', () => {
    expect(toPriceList({ edit: { '2k': 0.5 } }).edit).toEqual({ '1k': 87_500, '2k': 500_000, '4k': 175_000 });
  });

  it('keeps prices of a second that are fractions of a millionth', () => {
    const { endpoints } = toPriceList({ endpoints: { small: { usdPerSecond: 0.0000004 } } });
    expect(endpoints.get('small')).toEqual({ perSecond: 0.4 });
  });
});

describe('priceFileSchema', () => {
  it.each([
    [{ edits: {} }],
    [{ edit: { '1k': '0.1' } }],
    [{ edit: { '1k': -1 } }],
    [{ edit: { '1K': 1 } }],
    [{ endpoints: { mine: {} } }],
    [{ endpoints: { mine: { usdPerJob: 1, usdPerSecond: 1 } } }],
    [{ endpoints: { mine: { usdPerSecond: 1, reserveSeconds: 0 } } }],
    [[]],
  ])('refuses %j', (given) => expect(priceFileSchema().safeParse(given).success).toBe(false));
});
