import { cutRound } from './cut-round.js';

// npm run test:cut [rows] [seconds] [namespaces|proxy]: the long round.
const [, , rows = '600', seconds = '20', kind] = process.argv;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const report = await cutRound({
  rows: Number(rows),
  seconds: Number(seconds),
  jobMs: 900,
  concurrency: 32,
  print,
  ...(kind !== undefined && { link: kind === 'proxy' ? 'proxy' : 'namespaces' }),
});
print(JSON.stringify(report, undefined, 2));
if (report.broken.length > 0) process.exitCode = 1;
