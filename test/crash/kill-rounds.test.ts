import { expect, it } from 'vitest';
import { killRounds } from './kill-rounds.js';

it('loses nothing and pays nothing twice when it is killed ten times [fault 15]', async () => {
  const report = await killRounds({
    jobs: 200,
    edits: 60,
    kills: 10,
    seed: 42,
    life: { leastMs: 250, mostMs: 900 },
  });
  expect(report.broken).toEqual([]);
  expect(report.completed + report.unknown).toBe(260);
  expect(report.kills).toBeGreaterThanOrEqual(5);
  expect(report.atWork).toBeGreaterThanOrEqual(2);
}, 180_000);
