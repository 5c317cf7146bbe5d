import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createClient, pullJobs, untilAborted, iterate, type RowOutcome } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// Rows from a generator without an end, outcomes into a file: a row is pulled only when the file has taken an outcome.
const emulator = await startEmulator({ workers: 4 });
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const echo = client.queue('echo');
const folder = await mkdtemp(join(tmpdir(), 'millrace-streams-'));
const file = join(folder, 'results.jsonl');

async function* rows(most: number) {
  for (let n = 1; n <= most; n += 1) yield { n };
}
async function* asLines(outcomes: AsyncIterable<RowOutcome<{ n: number }, unknown>>) {
  for await (const { row, outcome } of outcomes) yield `${JSON.stringify({ ...row, ...outcome })}\n`;
}
const outcomes = pullJobs(rows(20), (row) => echo.runSync(row), { concurrency: 4 });
await pipeline(Readable.from(outcomes), asLines, createWriteStream(file));
console.log(`${(await readFile(file, 'utf8')).trim().split('\n').length} lines`);

// An AbortSignal ends a stream of many jobs: no further row is pulled, and the reason is thrown.
const controller = new AbortController();
const endless = pullJobs(rows(Infinity), (row) => echo.runSync(row), { concurrency: 4 });
let seen = 0;
try {
  for await (const { outcome } of iterate(endless.pipe(untilAborted(controller.signal))))
    if (outcome.status === 'completed' && ++seen === 5) controller.abort(new Error('enough'));
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
await rm(folder, { recursive: true });
await emulator.close();
