import { expect, it } from 'vitest';
import { crashEverywhere } from './crash-everywhere.js';
import { fairWeather } from './service.js';

const asynchronous = { path: '/work/rows.csv', mode: 'async' } as const;
const hourMs = 3_600_000;

it(
  'a run of 16 rows of a spreadsheet, all polled and in bad weather, loses nothing and buys nothing twice, whichever of its calls it dies at',
  async () => {
    const weather = { ...fairWeather, refusals: 0.1, doubts: 0.05, reads: 0.1, downloads: 0.1 };
    const options = { manifest: asynchronous };
    const simulation = { seed: 2, rows: 16, format: 'csv', weather, options } as const;
    const { calls, tried, broken } = await crashEverywhere(simulation);
    expect(broken).toEqual([]);
    expect(tried).toBe(calls);
    expect(calls).toBeGreaterThan(300);
  },
  hourMs,
);
