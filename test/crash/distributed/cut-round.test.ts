import { expect, it } from 'vitest';
import { cutRound } from './cut-round.js';

it('goes on with one host while the link to the other is cut, loses nothing and pays nothing twice', async () => {
  const printed: string[] = [];
  const print = (line: string): void => void printed.push(line);
  const report = await cutRound({ rows: 60, seconds: 6, jobMs: 300, concurrency: 16, print });
  expect(report.broken, printed.join('\n')).toEqual([]);
  expect([report.exitCode, report.completed]).toEqual([0, 60]);
  const [atCut, atMend] = report.ended;
  expect(atMend, printed.join('\n')).toBeGreaterThan(atCut);
}, 180_000);
