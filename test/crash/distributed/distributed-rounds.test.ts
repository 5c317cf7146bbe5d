import { expect, it } from 'vitest';
import { distributedRounds } from './distributed-rounds.js';

it('loses nothing and pays nothing twice when workers, the collector and the database go in the middle', async () => {
  const printed: string[] = [];
  const report = await distributedRounds({
    print: (line) => printed.push(line),
    rows: 300,
    workers: 3,
    killEveryMs: 500,
    killEveryRows: 60,
    concurrency: 24,
    seed: 42,
    hurry: true,
    frozenMs: { worker: 2_000, database: 1_000 },
  });
  expect(report.broken, printed.join('\n')).toEqual([]);
  expect(report.completed + report.unknown).toBe(300);
  expect(report.kills).toBeGreaterThanOrEqual(1);
  expect([report.collectorKills, report.databaseRestarts]).toEqual([2, 1]);
}, 180_000);
