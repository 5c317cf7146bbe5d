import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberRuns, placeInRuns } from '../../../runners/report/page-data.js';
import { pageParts } from '../../support/page-parts.js';

it('finds every number where it stands', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(60)), (numbers) => {
      numbers.sort((a, b) => a - b);
      const runs = numberRuns(numbers);
      expect(runs.flatMap(([first, count]) => Array.from({ length: count }, (_, n) => first + n))).toEqual(
        numbers,
      );
      for (let number = 0; number <= 60; number++) {
        const place = numbers.indexOf(number);
        expect(placeInRuns(runs, number)).toBe(place < 0 ? undefined : place);
      }
    }),
  );
});

it('is short where all rows have ended, and keeps numbers that come twice', () => {
  expect(numberRuns(Array.from({ length: 1000 }, (_, n) => n + 1))).toEqual([[1, 1000]]);
  expect(numberRuns([1, 2, 2, 3])).toEqual([
    [1, 2],
    [2, 2],
  ]);
});

it('carries a script of 70 to 90 kB, as every report holds it: one import of zod once made it 173 kB', async () => {
  const { script } = await pageParts();
  expect(Buffer.byteLength(script)).toBeGreaterThan(70_000);
  expect(Buffer.byteLength(script)).toBeLessThan(90_000);
});
