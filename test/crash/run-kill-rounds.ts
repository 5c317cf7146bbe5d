import { killRounds } from './kill-rounds.js';

// npm run test:crash [kills] [seed] [faults]: the long loop. With faults, the service calls back.
const kills = Number(process.argv[2] ?? 100);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const callbackFaults = process.argv[4];
process.stdout.write(`${kills} kills, seed ${seed}\n`);
const report = await killRounds({
  jobs: kills * 20,
  edits: kills * 10,
  kills,
  seed,
  ...(callbackFaults !== undefined && { callbackFaults }),
  life: { leastMs: 200, mostMs: 1_600 },
  print: (line) => process.stdout.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
if (report.broken.length > 0) process.exitCode = 1;
