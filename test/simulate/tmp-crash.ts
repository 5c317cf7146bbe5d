import { crashEverywhere } from './crash-everywhere.js';
console.log(
  await crashEverywhere({
    seed: 1,
    rows: 60,
    format: 'jsonl',
    every: Number(process.argv[2]),
    from: Number(process.argv[3] ?? 1),
    options: { concurrency: 16 },
  }),
);
