import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { delay, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBatch } from '../../../../runners/batch/run-batch.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import type { Transport } from '../../../../src/transport/transport.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-flat-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Every POST is answered by a finished job; every other one by a failed one. */
let jobs = 0;
const transport: Transport = () => {
  const id = `job-${++jobs}`;
  const body =
    jobs % 2 === 0
      ? { id, status: 'COMPLETED', output: { text: 'x'.repeat(500) } }
      : { id, status: 'FAILED', error: 'no' };
  return of({ status: 200, headers: {}, body: JSON.stringify(body) }).pipe(delay(0));
};

/** Heap in use at the end of so many rows, in MB. */
async function heapAfter(rows: number): Promise<number> {
  const path = join(folder, `manifest-${rows}.jsonl`);
  const line = (index: number): string =>
    JSON.stringify({ id: `row-${index}`, endpoint: 'echo', input: { index, text: 'x'.repeat(200) } });
  writeFileSync(path, Array.from({ length: rows }, (_, index) => `${line(index)}\n`).join(''));
  const out = join(folder, `out-${rows}`);
  let ended = 0;
  let heap = 0;
  const manifest = { path, mode: 'sync' as const };
  const run = runBatch({
    manifest,
    out,
    baseUrl: 'http://x.test',
    apiKey: 'key-0123456789',
    concurrency: 50,
    transport,
    schedule: pollFixed(1),
  });
  await new Promise<void>((resolve) => {
    run.subscribe({
      next: (event) => {
        if (event.type !== 'ended' || ++ended < rows) return;
        collect();
        heap = process.memoryUsage().heapUsed / 2 ** 20;
      },
      complete: resolve,
    });
  });
  expect(ended).toBe(rows);
  return heap;
}

describe('the memory of a run', () => {
  it('does not grow with its rows', { timeout: 180_000 }, async () => {
    await heapAfter(1_001);
    const few = await heapAfter(1_000);
    const many = await heapAfter(9_000);
    // 8,000 rows of 1 kB: kept, they would take more than 8 MB.
    expect(many - few).toBeLessThan(3);
  });
});
