import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { isAnyRepeated, type EachHash } from '../../../../../runners/batch/manifest/duplicates/hash-table.js';

const half = fc.oneof(
  fc.nat({ max: 3 }),
  fc.constantFrom(0, 0xffff_ffff, 0x8000_0000),
  fc.nat({ max: 0xffff_ffff }),
);

const hashesOf =
  (all: readonly (readonly [high: number, low: number])[]): EachHash =>
  (take) => {
    for (const [high, low] of all) take(high, low);
    return Promise.resolve();
  };

describe('isAnyRepeated', () => {
  test.prop([fc.array(fc.tuple(half, half), { maxLength: 100 })])('finds what a set finds', async (all) => {
    const different = new Set(all.map(String)).size;
    expect(await isAnyRepeated(all.length, hashesOf(all))).toBe(different < all.length);
  });

  it.each([
    ['a hundred thousand unlike ones', 0, false],
    ['one of them twice', 1, true],
    ['more alike than fit in a part', 20_000, true],
  ])('is quick with %s', async (_, again, isRepeated) => {
    const all = Array.from({ length: 100_000 }, (_, n) => [spread(n), n] as const);
    all.push(...Array.from({ length: again }, () => all[7_000] ?? ([0, 0] as const)));
    expect(await isAnyRepeated(all.length, hashesOf(all))).toBe(isRepeated);
  });
});

function spread(n: number): number {
  return Math.imul(n, 2_654_435_761) >>> 0;
}
