import { describe, expect, it } from 'vitest';
import { crashEverywhere } from './crash-everywhere.js';
import { fairWeather } from './weather.js';
import { sixtyRows } from './sixty-rows.js';

const hourMs = 3_600_000;
const every = 41;
const everyOfBad = 13;

describe('a run that dies at any of its calls', () => {
  it(
    `loses nothing and buys nothing twice, 60 rows, each ${every}st call (npm run test:simulate crash-points: all)`,
    async () => {
      const { calls, tried, broken } = await crashEverywhere({ ...sixtyRows, every });
      expect(broken).toEqual([]);
      expect(tried).toBe(Math.ceil(calls / every));
      expect(calls).toBeGreaterThan(1_000);
    },
    hourMs,
  );

  it(
    `nor at each ${everyOfBad}th call of 16 rows of a spreadsheet, where all edits are polled and the weather is bad`,
    async () => {
      const weather = { ...fairWeather, refusals: 0.1, unknowns: 0.05, reads: 0.1, downloads: 0.1 };
      const simulation = {
        seed: 2,
        rows: 16,
        format: 'csv',
        weather,
        options: { manifest: asynchronous },
        every: everyOfBad,
      } as const;
      const { calls, tried, broken } = await crashEverywhere(simulation);
      expect(broken).toEqual([]);
      expect(tried).toBe(Math.ceil(calls / everyOfBad));
      expect(calls).toBeGreaterThan(300);
    },
    hourMs,
  );
});

const asynchronous = { path: '/job/rows.csv', mode: 'async' } as const;
