import { describe, expect, it } from 'vitest';
import { flattenBatches } from '../../../../runners/batch/manifest/read-manifest.js';

async function* batchesOf<T>(...batches: Iterable<T>[]): AsyncGenerator<Iterable<T>> {
  yield* batches;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function* failing(): Generator<number> {
  yield 1;
  throw new Error('made wrongly');
}

describe('flattenBatches', () => {
  it('yields the items of all batches, also of empty ones', async () => {
    expect(await all(flattenBatches(batchesOf([], [1, 2], [], [3])))).toEqual([1, 2, 3]);
    expect(await all(flattenBatches(batchesOf<number>()))).toEqual([]);
  });

  it('answers calls that overlap in order', async () => {
    const items = flattenBatches(batchesOf([1], [], [2, 3]));
    const answers = await Promise.all([items.next(), items.next(), items.next(), items.next(), items.next()]);
    expect(answers.map(({ value }): unknown => value)).toEqual([1, 2, 3, undefined, undefined]);
    expect(answers.map(({ done }) => done ?? false)).toEqual([false, false, false, true, true]);
  });

  it('rejects where an item cannot be made', async () => {
    const items = flattenBatches(batchesOf(failing(), [2]));
    expect(await items.next()).toEqual({ done: false, value: 1 });
    await expect(items.next()).rejects.toThrow('made wrongly');
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it('rejects where a batch cannot be had, and is at its end then', async () => {
    const source = (async function* (): AsyncGenerator<number[]> {
      yield [1];
      throw new Error('no more');
    })();
    const items = flattenBatches(source);
    await items.next();
    await expect(Promise.all([items.next(), items.next()])).rejects.toThrow('no more');
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it('ends its source when it is left, and yields nothing after that', async () => {
    let ended = 0;
    const source = (async function* (): AsyncGenerator<number[]> {
      try {
        yield [1, 2];
      } finally {
        ended++;
      }
    })();
    const items = flattenBatches(source);
    for await (const item of items) if (item === 1) break;
    expect(ended).toBe(1);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });
});
