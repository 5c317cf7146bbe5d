import { distributedRounds } from './distributed-rounds.js';

// npm run test:crash:distributed [rows] [seed]: the long round.
const rows = Number(process.argv[2] ?? 5_000);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
process.stdout.write(`${rows} rows, three workers and a collector, seed ${seed}\n`);
const report = await distributedRounds({
  rows,
  seed,
  workers: 3,
  killEveryMs: 4_000,
  killEveryRows: 50,
  concurrency: 48,
  frozenMs: { worker: 60_000, database: 15_000 },
  print: (line) => process.stdout.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
if (report.broken.length > 0) process.exitCode = 1;
