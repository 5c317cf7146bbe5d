import { describe, expect, it } from 'vitest';
import { IdHash } from '../../../../../runners/batch/manifest/duplicates/id-hash.js';

function hashesOf(texts: Iterable<string>): { both: number; high: number; low: number; count: number } {
  const hash = new IdHash();
  const [both, high, low] = [new Set<string>(), new Set<number>(), new Set<number>()];
  let count = 0;
  for (const text of texts) {
    hash.ofText(text);
    both.add(`${hash.high} ${hash.low}`);
    high.add(hash.high);
    low.add(hash.low);
    count++;
  }
  return { both: both.size, high: high.size, low: low.size, count };
}

function* numbered(pattern: (number: number) => string): Generator<string> {
  for (let number = 0; number < 50_000; number++) yield pattern(number);
}

describe('IdHash', () => {
  it.each<[string, (number: number) => string]>([
    ['numbers', String],
    ['padded numbers', (number) => `row-${String(number).padStart(9, '0')}`],
    ['names with a number in the middle', (number) => `sku/${number}/front.png`],
    ['hex', (number) => (number * 2_654_435_761).toString(16)],
    ['two numbers', (number) => `${number % 317}-${Math.floor(number / 317)}`],
    ['one sign again and again', (number) => 'a'.repeat(number % 250) + 'b'.repeat(Math.floor(number / 250))],
    ['other alphabets', (number) => `фото-${number}-写真`],
  ])('tells %s apart in both halves as well as chance would', (_, pattern) => {
    const { both, high, low, count } = hashesOf(numbered(pattern));
    expect(both).toBe(count);
    // Of 50,000 random numbers of 32 bits a pair meets in one trial of four.
    expect(count - high).toBeLessThan(6);
    expect(count - low).toBeLessThan(6);
  });

  it('uses all bits of both halves', () => {
    const hash = new IdHash();
    let [high, low] = [0, 0];
    for (let number = 0; number < 200; number++) {
      hash.ofText(`x${number}`);
      high |= hash.high;
      low |= hash.low;
    }
    expect([high >>> 0, low >>> 0]).toEqual([0xffff_ffff, 0xffff_ffff]);
  });

  it('is the same each time', () => {
    const hash = new IdHash();
    hash.ofText('row-1');
    const { high, low } = hash;
    hash.ofText('row-2');
    hash.ofText('row-1');
    expect([hash.high, hash.low]).toEqual([high, low]);
  });
});
