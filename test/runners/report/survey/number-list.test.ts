import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NumberList } from '../../../../runners/report/survey/number-list.js';

function listOf(numbers: readonly number[]): NumberList {
  const list = new NumberList();
  for (const number of numbers) list.push(number);
  return list;
}

it('keeps numbers in their order, however many', () => {
  const numbers = Array.from({ length: 5_000 }, (_, n) => (n * 7_919) % 1_000);
  const list = listOf(numbers);
  expect([...list]).toEqual(numbers);
  expect([...list.sorted()]).toEqual([...numbers].sort((a, b) => a - b));
  expect([list.length, list.at(4_999), list.at(5_000)]).toEqual([5_000, numbers[4_999], 0]);
});

/** Parts of one, and more than a place fits beside. */
const any = fc.constantFrom(0.5, -0.5, 0, 1, 1.8e12, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 60);

it('ranks them, equal ones in their own order', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(fc.integer({ min: -5, max: 20 })), fc.array(any)), (numbers) => {
      const places = numbers.map((_, place) => place).sort((a, b) => numbers[a]! - numbers[b]!);
      expect([...listOf(numbers).ranked()]).toEqual(places);
    }),
  );
});

it('holds no more than fits in a number of its kind', () => {
  const list = new NumberList(Uint8Array);
  for (let n = 0; n < 3_000; n++) list.push(n % 256);
  expect([...list]).toEqual(Array.from({ length: 3_000 }, (_, n) => n % 256));
});
