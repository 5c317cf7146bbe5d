import { expect, it } from 'vitest';
import { fairWeather } from '../weather.js';
import { simulateFleet } from './simulate-fleet.js';

it('a service that never says what it has accepted is not sold the whole manifest, however many workers come [fault 5]', async () => {
  let unknown = 0;
  const { broken, exitCodes } = await simulateFleet({
    seed: 41_000_000,
    rows: 400,
    beside: 6,
    collectors: [{}],
    workers: [],
    weather: { ...fairWeather, unknowns: 1 },
    options: { concurrency: 12, manifest: { path: '/job/rows.jsonl', mode: 'sync' } },
    watch: (line) => {
      if (/^\d+ \{"k":"outcome".*"code":"unknown"/.test(line)) unknown += 1;
    },
  });
  expect(broken).toEqual([]);
  expect(exitCodes[0]).toBe(6);
  // Twenty at each of three endpoints, and what was on the wire.
  expect(unknown).toBeGreaterThanOrEqual(20);
  expect(unknown).toBeLessThanOrEqual(80);
});
