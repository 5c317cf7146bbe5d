// npm run bench:check: every figure of the last bench that has a limit keeps it.
import { readFileSync } from 'node:fs';
import { isReached } from './figure.js';
import type { Results } from './results-page.js';

const { figures } = JSON.parse(readFileSync('test/bench/results.json', 'utf8')) as Results;
const missed = figures.filter((figure) => !isReached(figure));
for (const { what, median, limit } of missed)
  process.stderr.write(`${what}: ${median}, wanted ${JSON.stringify(limit)}\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
