// A process of its own for the memory of jobs that wait: `node --expose-gc .config/run-ts.mjs test/bench/waiting-process.ts library|run ROWS`.
// It prints the bytes of the heap that each of them takes, as JSON.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Observable, of, type Observable as Stream } from 'rxjs';
import { createClient, pullJobs } from '../../src/index.js';
import type { Transport, WireReply } from '../../src/transport/transport.js';
import { runBatch } from '../../runners/batch/run-batch.js';

const [way = '', count = ''] = process.argv.slice(2);
const rows = Number(count);
const service = { apiKey: 'a-key-for-the-bench', baseUrl: 'http://127.0.0.1:1' };
let submitted = 0;

/** Accepts every job at once, and reports of none that it has ended. */
const transport: Transport = (request) =>
  request.method === 'POST'
    ? submit()
    : of(reply(request.url.slice(request.url.lastIndexOf('/') + 1), 'IN_PROGRESS'));

const before = await heap();
const accepted = way === 'library' ? inLibrary() : await inRun();
while (submitted < rows || accepted() < rows) await setImmediate();
for (let turn = 0; turn < 50; turn += 1) await setImmediate();
const bytes = Math.round(((await heap()) - before) / rows);
process.stdout.write(JSON.stringify({ bytes }), () => process.exit());

function inLibrary(): () => number {
  const endpoint = createClient({ ...service, transport }).queue('bench');
  const numbers = Array.from({ length: rows }, (_, n) => n);
  pullJobs(numbers, (n) => endpoint.run(input(n)), { concurrency: rows }).subscribe();
  return () => submitted;
}

async function inRun(): Promise<() => number> {
  const out = await mkdtemp(join(tmpdir(), 'millrace-waiting-'));
  let events = 0;
  runBatch({ ...service, manifest: { rows: manifest() }, out, transport, concurrency: rows }).subscribe(
    (event) => {
      if (event.type === 'row' && event.event.type === 'accepted') events += 1;
    },
  );
  return () => events;
}

function* manifest() {
  for (let n = 0; n < rows; n += 1) yield { id: `row-${n}`, endpoint: 'bench', input: input(n) };
}

function input(n: number) {
  const prompt = `make chair ${n} blue, in soft light, with a window behind it and a long shadow on the floor`;
  return { images: [`https://pictures.example/${n}.png`], prompt };
}

function submit(): Stream<WireReply> {
  return new Observable((subscriber) => {
    submitted += 1;
    subscriber.next(reply(`job-${submitted}-of-the-bench-u1`, 'IN_QUEUE'));
    subscriber.complete();
  });
}

function reply(id: string, status: string): WireReply {
  return { status: 200, headers: {}, body: JSON.stringify({ id, status }) };
}

async function heap(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    await setImmediate();
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
