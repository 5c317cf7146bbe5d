import { describe, expect, it } from 'vitest';
import { readPriceFile } from '../../../../runners/batch/ledger/price-list.js';

describe('readPriceFile', () => {
  it('reads a price list', () => {
    expect(
      readPriceFile('{"endpoints": {"mine": {"usdPerSecond": 0.00034}}}', 'prices.json').endpoints.get(
        'mine',
      ),
    ).toEqual({ perSecond: 340 });
  });

  it('names the file and what is wrong in it', () => {
    expect(() => readPriceFile('{', 'prices.json')).toThrow(/^prices\.json is not JSON: /);
    expect(() => readPriceFile('{"edit": {"1k": "x"}}', 'prices.json')).toThrow(/^prices\.json: .*edit.*1k/s);
    expect(() => readPriceFile('{"edit": {"1k": 1, "1k": 0.1}}', 'prices.json')).toThrow(
      'prices.json has the key "1k" twice in edit (character 20); leave one of them.',
    );
    const two = '{"endpoints": {"mine": {"usdPerJob": 1, "usdPerSecond": 1}}}';
    expect(() => readPriceFile(two, 'prices.json')).toThrow(
      /one of \{"usdPerPicture".*is a price.*endpoints\.mine/s,
    );
  });
});
