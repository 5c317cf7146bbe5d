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

it('does so while it is called back: late, twice, at forged addresses, and about requests whose answers were lost', async () => {
  const report = await killRounds({
    jobs: 240,
    edits: 0,
    kills: 10,
    seed: 23_000_001,
    life: { leastMs: 400, mostMs: 1_200 },
    callbackFaults:
      'reset-after@run=0.1,callback-late=0.2:200,callback-twice=0.2,callback-forged=0.2,callback-never=0.1',
  });
  expect(report.broken).toEqual([]);
  expect(report.completed + report.unknown).toBe(240);
  expect(report.atWork).toBeGreaterThanOrEqual(2);
  const { 200: taken = 0, 404: forged = 0, 502: unheard = 0 } = report.answers;
  expect([taken > 60, forged > 0, unheard > 0]).toStrictEqual([true, true, true]);
}, 180_000);
