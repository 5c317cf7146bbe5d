import { describe, expect, it } from 'vitest';
import {
  decodeRecord,
  hasGoodChecksum,
  encodeRecord,
} from '../../../../../runners/batch/journal/line/record-line.js';
import { intent, wholeLife } from '../../../../support/sample-records.js';

describe('decodeRecord', () => {
  it('gives back what was encoded', () => {
    wholeLife().forEach((record, index) => {
      expect(decodeRecord(encodeRecord(index, record).subarray(0, -1))).toEqual({ n: index, record });
    });
  });

  it('keeps a row whose column is named __proto__', () => {
    const columns = JSON.parse('{"__proto__": "x"}') as Record<string, unknown>;
    const { record } = decodeRecord(encodeRecord(1, intent('a', { columns })).subarray(0, -1));
    expect(JSON.stringify((record as { columns: unknown }).columns)).toBe('{"__proto__":"x"}');
  });
});

describe('hasGoodChecksum', () => {
  const line = encodeRecord(1, intent('a')).subarray(0, -1);

  it('takes a whole record, also in the middle of other bytes', () => {
    expect(hasGoodChecksum(line, 0, line.length)).toBe(true);
    expect(
      hasGoodChecksum(Buffer.concat([Buffer.from('xx'), line, Buffer.from('y')]), 2, 2 + line.length),
    ).toBe(true);
  });

  it('refuses every part of one', () => {
    for (let end = 0; end < line.length; end++) expect(hasGoodChecksum(line, 0, end)).toBe(false);
    for (let start = 1; start < line.length; start++)
      expect(hasGoodChecksum(line, start, line.length)).toBe(false);
  });

  it('refuses a flip of any bit', () => {
    for (let at = 0; at < line.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(line);
        flipped[at]! ^= 1 << bit;
        expect(hasGoodChecksum(flipped, 0, flipped.length)).toBe(false);
      }
    }
  });
});
