import { expect, it } from 'vitest';
import { seededRandom } from '../../../../runners/emulator/create-service.js';

const take = (seed: number, count: number): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, random);
};

it('repeats itself for the same seed, and only for it', () => {
  expect(take(5, 100)).toEqual(take(5, 100));
  expect(take(5, 100)).not.toEqual(take(6, 100));
});

it('stays in [0, 1) and is evenly spread', () => {
  const all = take(1, 10_000);
  expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...all)).toBeLessThan(1);
  for (let tenth = 0; tenth < 10; tenth += 1)
    expect(all.filter((n) => Math.floor(n * 10) === tenth).length / 1_000).toBeCloseTo(1, 0);
});
