import { expect, it } from 'vitest';
import { cutRound } from './cut-round.js';

it('goes on with one host while the link to the other is cut, loses nothing and pays nothing twice', async () => {
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const report = await cutRound({ rows: 60, seconds: 6, jobMs: 300, concurrency: 16, say });
  expect(report.broken, said.join('\n')).toEqual([]);
  expect([report.exitCode, report.completed]).toEqual([0, 60]);
  const [atCut, atMend] = report.ended;
  expect(atMend, said.join('\n')).toBeGreaterThan(atCut);
}, 180_000);
