import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { figure, type Figure } from '../figure.js';

const jobs = 10_000;
const ways = {
  library: { what: 'a job that waits, by pullJobs: memory', atMost: 3_000 },
  run: { what: 'a row that waits, in a run: memory', atMost: 6_500 },
};

/** What each of 10,000 jobs takes of the heap that were accepted and have not ended: how many a process can wait for. */
export async function waiting(rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [way, { what, atMost }] of Object.entries(ways)) {
    const bytes: number[] = [];
    for (let round = 0; round < rounds; round += 1) bytes.push(await bytesOf(way));
    figures.push(figure(what, 'bytes', bytes, { limit: { atMost } }));
  }
  return figures;
}

async function bytesOf(way: string): Promise<number> {
  const script = ['.config/run-ts.mjs', 'test/bench/waiting-process.ts', way, String(jobs)];
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...script]);
  return (JSON.parse(stdout) as { bytes: number }).bytes;
}
