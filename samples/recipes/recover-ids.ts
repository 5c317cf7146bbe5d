import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, filter } from 'rxjs';
import { createClient, pullJobs, type CheckpointEvent } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// Jobs outlive the program that bought them: ids are stored before anything is polled, and collected by the next start.
const emulator = await startEmulator({ workers: 3 });
const folder = await mkdtemp(join(tmpdir(), 'millrace-ids-'));
const store = join(folder, 'ids.jsonl');
const endpoint = () => createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl }).queue('echo');

// A job goes on only when its checkpoint has: what was accepted stands in the file.
const checkpoint = async (event: CheckpointEvent<unknown>) => {
  if (event.type === 'accepted') await appendFile(store, `${JSON.stringify(event.jobId)}\n`);
};
const before = endpoint();
for (const n of [1, 2, 3]) {
  const job = before.run({ n, sleepMs: 30 }, { checkpoint });
  await firstValueFrom(job.pipe(filter(({ type }) => type === 'accepted'))); // … and then the program dies
}

// The next start buys nothing: it polls what was stored.
const ids = (await readFile(store, 'utf8'))
  .trim()
  .split('\n')
  .map((line) => String(JSON.parse(line)));
const after = endpoint();
const collected: string[] = [];
for await (const { outcome } of pullJobs(ids, (id) => after.attach(id), { concurrency: 3 }))
  collected.push(outcome.status === 'completed' ? JSON.stringify(outcome.output) : outcome.code);

console.log(collected.sort().join('\n'));
console.log(`${emulator.bill().length} jobs were bought`);
await rm(folder, { recursive: true });
await emulator.close();
