import { describe, expect, it } from 'vitest';
import { crashEverywhere } from './crash-everywhere.js';
import { fairWeather } from './service.js';

const hourMs = 3_600_000;
/** Without thumbnails, which nothing depends on: they would be a third of all calls. */
const options = { concurrency: 16, makeThumbnail: () => Promise.resolve(undefined) };

describe('a run of 60 rows that dies at any of its calls', () => {
  it(
    'loses nothing and buys nothing twice, whichever call it is',
    async () => {
      const { calls, tried, broken } = await crashEverywhere({ seed: 1, rows: 60, format: 'jsonl', options });
      expect(broken).toEqual([]);
      expect(tried).toBe(calls);
      expect(calls).toBeGreaterThan(1_000);
    },
    hourMs,
  );

  it(
    'nor where all edits are polled, the weather is bad and the manifest is a spreadsheet',
    async () => {
      const weather = { ...fairWeather, refusals: 0.1, doubts: 0.05, reads: 0.1, downloads: 0.1 };
      const simulation = {
        seed: 2,
        rows: 16,
        format: 'csv',
        weather,
        options: { manifest: asynchronous },
      } as const;
      const { calls, tried, broken } = await crashEverywhere(simulation);
      expect(broken).toEqual([]);
      expect(tried).toBe(calls);
      expect(calls).toBeGreaterThan(300);
    },
    hourMs,
  );
});

const asynchronous = { path: '/work/rows.csv', mode: 'async' } as const;
