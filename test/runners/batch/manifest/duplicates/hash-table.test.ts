import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { HashTable } from '../../../../../runners/batch/manifest/duplicates/hash-table.js';

const half = fc.oneof(
  fc.nat({ max: 3 }),
  fc.constantFrom(0, 0xffff_ffff, 0x8000_0000),
  fc.nat({ max: 0xffff_ffff }),
);

describe('HashTable', () => {
  test.prop([fc.array(fc.tuple(half, half, fc.integer({ min: 1, max: 0xffff_ffff })), { maxLength: 300 })])(
    'keeps what a map keeps',
    (entries) => {
      const table = new HashTable();
      const map = new Map<string, number>();
      for (const [high, low, value] of entries) {
        expect(table.get(high, low)).toBe(map.get(`${high} ${low}`) ?? 0);
        table.set(high, low, value);
        map.set(`${high} ${low}`, value);
      }
      for (const [key, value] of map) {
        const [high = 0, low = 0] = key.split(' ').map(Number);
        expect(table.get(high, low)).toBe(value);
      }
    },
  );

  it('keeps a hundred thousand in one segment as well', () => {
    const table = new HashTable();
    const lowOf = (number: number): number => Math.imul(number, 2_654_435_761) >>> 0;
    for (let number = 1; number <= 100_000; number++) table.set(0, lowOf(number), number);
    let wrong = 0;
    for (let number = 1; number <= 100_000; number++) if (table.get(0, lowOf(number)) !== number) wrong++;
    expect(wrong).toBe(0);
    expect(table.get(1, lowOf(1))).toBe(0);
  });
});
