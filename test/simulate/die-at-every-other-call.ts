import { expect, it } from 'vitest';
import { crashEverywhere } from './crash-everywhere.js';

const hourMs = 3_600_000;
/** Without thumbnails, which nothing depends on: they would be a third of all calls. */
const options = { concurrency: 16, makeThumbnail: () => Promise.resolve(undefined) };

/** Half of the calls of a run of 60 rows; the two halves are files of their own, for two cores. */
export function dieAtEveryOtherCall(from: 1 | 2): void {
  it(
    'a run of 60 rows loses nothing and buys nothing twice, whichever of these calls it dies at',
    async () => {
      const simulation = { seed: 1, rows: 60, format: 'jsonl', options } as const;
      const { calls, tried, broken } = await crashEverywhere({ ...simulation, from, every: 2 });
      expect(broken).toEqual([]);
      expect(tried).toBe(Math.floor((calls - from) / 2) + 1);
      expect(calls).toBeGreaterThan(1_000);
    },
    hourMs,
  );
}
