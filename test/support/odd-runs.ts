import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of a run of six jobs that answered with JSON, without pictures. */
export async function jobsRun(folder: string): Promise<void> {
  await mkdir(folder);
  const jobs = Array.from({ length: 6 }, (_, place) => ({
    id: `job-${place}`,
    row: place + 1,
    kind: 'job',
    endpoint: 'echo',
    jobId: `j-${place}`,
    status: 'completed',
    output: { answer: { words: ['one', 'two'] } },
    cost: 0.01,
    attempts: 1,
    settledAt: '2026-11-20T09:12:04.000Z',
    columns: {},
    request: { input: { question: `How many are ${place}?` } },
  }));
  await writeFile(join(folder, 'results.jsonl'), jobs.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const costs = jobs.map(({ id, row, jobId }) => `${id},${row},1,${jobId},echo,,0.01,reported,`);
  const head = 'id,row,attempt,jobId,endpoint,resolution,cost,source,settledAt';
  await writeFile(join(folder, 'costs.csv'), [head, ...costs, ''].join('\r\n'));
}

/** The folder of a run that has begun and in which nothing has ended. */
export async function begunRun(folder: string): Promise<void> {
  await mkdir(folder);
  const start = { n: 1, k: 'start', at: Date.now(), identity: { baseUrl: 'https://api.example.test' } };
  await writeFile(join(folder, 'journal.jsonl'), `${JSON.stringify({ ...start, manifest: 'edits.csv' })}\n`);
}
