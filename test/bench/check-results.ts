// npm run bench:check: every figure of the last benches that has a limit keeps it.
import { isReached } from './figure.js';
import { readResults } from './results-page.js';

const files = ['test/bench/results.json', 'test/bench/distributed/results.json'];
const figures = (await Promise.all(files.map(readResults))).flatMap((results) => results.figures);
const missed = figures.filter((figure) => !isReached(figure));
for (const { what, median, limit } of missed)
  process.stderr.write(`${what}: ${median}, wanted ${JSON.stringify(limit)}\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
