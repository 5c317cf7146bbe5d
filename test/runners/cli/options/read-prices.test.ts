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

  it('says what is wrong with the file', async () => {
    await work.write('bad.json', ['{"endpoints": {"grind": {"cents": 1}}}']);
    await expect(readPrices('none.json', work.folder)).rejects.toThrow(
      '--prices: "none.json" cannot be read (ENOENT)',
    );
    await expect(readPrices('bad.json', work.folder)).rejects.toThrow(
      /^--prices: bad\.json: .*endpoints\.grind/s,
    );
  });
});
