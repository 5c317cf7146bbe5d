import { dirname } from 'node:path';
import { runBatch } from 'millrace/batch';
import { startEmulator } from 'millrace/emulator';

// The same as `millrace run samples/jobs.jsonl --local --functions samples/functions.mjs`, from a program.
const path = 'samples/jobs.jsonl';
const functionsFile = 'samples/functions.mjs';
const emulator = await startEmulator({ functionsFile, files: dirname(path), latency: 'uniform:20-200' });
const { baseUrl, lbBaseUrl, apiKey } = emulator;
const identity = { baseUrl, lbBaseUrl, local: true };

for await (const event of runBatch({
  manifest: { path },
  out: 'out/jobs',
  baseUrl,
  lbBaseUrl,
  apiKey,
  identity,
})) {
  if (event.type === 'ended') console.log(`row ${event.row} ${event.id}: ${event.status}`);
  if (event.type === 'warning') console.log(event.message);
  if (event.type === 'finished') console.log(event.reason);
}
await emulator.close();
