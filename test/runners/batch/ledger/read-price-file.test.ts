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
    expect(() => readPriceFile('{', 'prices.json')).toThrow('prices.json is not JSON at line 1, column 2.');
    expect(() => readPriceFile('{"edit": {"1k": "x"}}', 'prices.json')).toThrow(
      /^prices\.json: edit: 1k: is not a number of dollars$/,
    );
    expect(() => readPriceFile('{"edit": {"1k": 1, "1k": 0.1}}', 'prices.json')).toThrow(
      'prices.json has the key "1k" twice in edit (character 20); leave one of them.',
    );
    const two = '{"endpoints": {"mine": {"usdPerJob": 1, "usdPerSecond": 1}}}';
    expect(() => readPriceFile(two, 'prices.json')).toThrow(
      /^prices\.json: endpoints: mine: one of \{"usdPerPicture".*is a price$/,
    );
  });

  it.each([
    ['{"edit": {"1k": -1}}', 'edit: 1k: is below 0'],
    ['{"edit": {"1K": 1}}', 'edit: 1K: is not a resolution such as 1k'],
    ['{"route": 1e9, "edit": 5}', 'edit: is not an object {…}; prices.json: route: is above 100000'],
    ['{"edits": {}}', 'there is no setting "edits"'],
  ])('says of %s in words what is wrong', (text, why) =>
    expect(() => readPriceFile(text, 'prices.json')).toThrow(`prices.json: ${why}`),
  );
});
