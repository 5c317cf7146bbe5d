// What reading a file takes at least: `node .config/run-ts.mjs test/bench/parse-process.ts csv|jsonl FILE` prints `{cpuMs, wallMs}`, of
// csv-parse for a CSV, of JSON.parse for JSON lines.
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { cpuOf } from './figure.js';

const [, , format, path = ''] = process.argv;
const begin = performance.now();
const cpu = await cpuOf(format === 'csv' ? parseCsv : parseLines);
process.stdout.write(JSON.stringify({ cpuMs: cpu / 1_000, wallMs: performance.now() - begin }));

async function parseCsv(): Promise<number> {
  let rows = 0;
  for await (const row of createReadStream(path).pipe(parse({ columns: true }))) rows += row === null ? 0 : 1;
  return rows;
}

async function parseLines(): Promise<void> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 18 })) {
    const lines = `${rest}${chunk as string}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) JSON.parse(line);
  }
}
