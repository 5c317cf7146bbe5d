import { describe, expect, it } from 'vitest';
import { type TryLock, withFileLock } from '../../../../runners/batch/lock/try-lock-file.js';

/** A lock that is free at the given try; notes what happens. */
function freeAt(wanted: number): {
  tryLock: TryLock;
  wait: (ms: number) => Promise<void>;
  seen: (string | number)[];
} {
  const seen: (string | number)[] = [];
  let tries = 0;
  return {
    seen,
    tryLock: () =>
      Promise.resolve(
        ++tries < wanted ? undefined : { release: () => Promise.resolve(void seen.push('released')) },
      ),
    wait: (ms) => Promise.resolve(void seen.push(ms)),
  };
}

describe('withFileLock', () => {
  it('waits a little longer each time until the lock is free, and gives it back', async () => {
    const { seen, ...options } = freeAt(10);
    expect(
      await withFileLock('/lock', () => Promise.resolve(void seen.push('work')), options),
    ).toBeUndefined();
    expect(seen).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64, 'work', 'released']);
  });

  it('gives the lock back when the work fails', async () => {
    const { seen, ...options } = freeAt(1);
    await expect(withFileLock('/lock', () => Promise.reject(new Error('no')), options)).rejects.toThrow('no');
    expect(seen).toEqual(['released']);
  });

  it('gives up after its patience', async () => {
    const { seen, ...options } = freeAt(Infinity);
    const work = withFileLock('/lock', () => Promise.resolve(1), { ...options, patienceMs: 100 });
    await expect(work).rejects.toMatchObject({ code: 'held', message: expect.stringContaining('/lock') });
    expect(seen.reduce<number>((sum, ms) => sum + Number(ms), 0)).toBeLessThan(200);
  });
});
