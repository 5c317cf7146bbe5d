import { expect, it } from 'vitest';
import { cutRound } from './cut-round.js';

it('loses nothing and pays nothing twice when the link to one of two hosts is cut', async () => {
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const report = await cutRound({ rows: 60, seconds: 6, jobMs: 300, concurrency: 16, say });
  expect(report.broken, said.join('\n')).toEqual([]);
  expect([report.exitCode, report.completed]).toEqual([0, 60]);
}, 120_000);
