import { describe, expect, it } from 'vitest';
import { PicturePool } from '../../../../runners/batch/pictures/save-pictures.js';

/** Work that ends when it is told to. */
function work() {
  let end: (value: string) => void = () => undefined;
  let hasBegun = false;
  const promise = new Promise<string>((resolve) => (end = resolve));
  const begin = (): Promise<string> => {
    hasBegun = true;
    return promise;
  };
  return { begin, end: () => end('done'), hasBegun: () => hasBegun };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 300; turn++) await Promise.resolve();
};

describe('PicturePool', () => {
  it('runs so many at a time, lets four times as many wait, and holds back the rest', async () => {
    const pool = new PicturePool(2);
    const works = Array.from({ length: 14 }, work);
    const taken: number[] = [];
    const done: number[] = [];
    works.forEach(({ begin }, index) => {
      pool.run(begin, () => taken.push(index)).subscribe(() => done.push(index));
    });
    await turns();
    expect(works.filter(({ hasBegun }) => hasBegun())).toHaveLength(2);
    expect(taken).toHaveLength(10);
    works[0]?.end();
    await turns();
    expect(done).toEqual([0]);
    expect(works.filter(({ hasBegun }) => hasBegun())).toHaveLength(3);
    expect(taken).toHaveLength(11);
    for (const { end } of works) end();
    await turns();
    expect(taken).toHaveLength(14);
    expect(done).toHaveLength(14);
  });

  it('passes on what goes wrong, and goes on', async () => {
    const pool = new PicturePool(1);
    const errors: unknown[] = [];
    pool
      .run(
        () => Promise.reject(new Error('broken')),
        () => undefined,
      )
      .subscribe({ error: (error) => errors.push(error) });
    const next = work();
    pool.run(next.begin, () => undefined).subscribe();
    await turns();
    expect(errors).toEqual([new Error('broken')]);
    expect(next.hasBegun()).toBe(true);
  });
});
