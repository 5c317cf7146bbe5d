import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPrices } from '../../../../runners/cli/options/configured-endpoints.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

const job = { kind: 'job', endpoint: 'grind' } as const;

describe('readPrices', () => {
  let work: Workplace;
  beforeEach(async () => void (work = await openWorkplace()));
  afterEach(() => work.remove());

  it('reads a file, named as it was given', async () => {
    await work.write('prices.json', ['{"endpoints": {"grind": {"usdPerJob": 0.01}}}']);
    const book = await readPrices('prices.json', work.folder);
    expect([book.priceOf(job), book.table().book.name]).toEqual([10_000, 'prices.json']);
  });

  it('has the published prices without one', async () =>
    expect((await readPrices(undefined, work.folder)).table().book.name).toBe('published'));

  it('takes no price of one endpoint that another of its names contradicts', async () => {
    const named = (price: number) => ({
      a: { id: 'grind', price: { usdPerJob: 0.5 } },
      grind: { price: { usdPerJob: price } },
    });
    expect((await readPrices(undefined, work.folder, named(0.5))).priceOf(job)).toBe(500_000);
    await expect(readPrices(undefined, work.folder, named(0.05))).rejects.toThrow(
      'endpoints: a and grind are one endpoint, grind, and have different values of price: leave one of them',
    );
  });

  it('names the settings of a price file to a person who wrote endpoints where they stand', async () => {
    await work.write('flat.json', ['{"grind": {"usdPerJob": 0.01}}']);
    await expect(readPrices('flat.json', work.folder)).rejects.toThrow(
      '--prices: flat.json: there is no setting "grind"; a price file has the settings "edit", "endpoints" (prices by id) and "route"',
    );
  });

  it('says what is wrong with the file', async () => {
    await work.write('bad.json', ['{"endpoints": {"grind": {"cents": 1}}}']);
    await expect(readPrices('none.json', work.folder)).rejects.toThrow(
      '--prices: "none.json" cannot be read (ENOENT)',
    );
    await expect(readPrices('bad.json', work.folder)).rejects.toThrow(
      /^--prices: bad\.json: endpoints: grind: one of /,
    );
  });
});
