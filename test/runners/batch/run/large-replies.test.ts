import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delay, lastValueFrom, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBatch } from '../../../../runners/batch/run-batch.js';
import type { RunBatchOptions } from '../../../../runners/batch/context/run-options.js';
import type { Disk, DiskFile } from '../../../../runners/batch/disk/disk.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import type { Transport } from '../../../../src/transport/transport.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-replies-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const output = 'x'.repeat(9 * 1024 * 1024);

/** Seven rows with replies of 9 MiB, and how many requests were sent. */
function largeRun(more: Pick<RunBatchOptions, 'deliver' | 'disk'>) {
  const sent = { posts: 0, polls: 0 };
  const transport: Transport = ({ method, url }) => {
    const id = method === 'POST' ? `job-${++sent.posts}` : url.split('/').at(-1);
    if (method === 'GET') sent.polls++;
    const body = method === 'POST' ? { id, status: 'IN_QUEUE' } : { id, status: 'COMPLETED', output };
    return of({ status: 200, headers: {}, body: JSON.stringify(body) }).pipe(delay(0));
  };
  const path = join(folder, 'jobs.jsonl');
  const row = (at: number) => `${JSON.stringify({ id: `r${at}`, endpoint: 'echo', input: { at } })}\n`;
  writeFileSync(path, Array.from({ length: 7 }, (_, at) => row(at)).join(''));
  const run = runBatch({
    manifest: { path, mode: 'async' },
    out: join(folder, 'out'),
    baseUrl: 'http://x.test',
    apiKey: 'key-0123456789',
    concurrency: 7,
    transport,
    schedule: pollFixed(1),
    ...more,
  });
  return { sent, run };
}

describe('large replies', () => {
  it('are not fetched while those before them are not in the journal', async () => {
    let free = () => {};
    const isFree = new Promise<void>((resolve) => (free = resolve));
    const disk: Disk = { ...nodeDisk, open: async (path, flags) => slow(await nodeDisk.open(path, flags)) };
    let held = 0;
    const slow = (file: DiskFile): DiskFile => {
      const write = file.write.bind(file);
      file.write = async (bytes, at) => {
        if (bytes.length > 1_000_000) {
          held++;
          await isFree;
        }
        return write(bytes, at);
      };
      return file;
    };
    const { sent, run } = largeRun({ disk });
    const end = lastValueFrom(run);
    await expect.poll(() => held, { timeout: 20_000 }).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(sent.polls).toBeLessThan(5);
    free();
    await end;
    expect(sent).toStrictEqual({ posts: 7, polls: 7 });
  });

  it('are all fetched where a reader waits until it has all of them', async () => {
    let delivered = 0;
    let free = () => {};
    const areAll = new Promise<void>((resolve) => (free = resolve));
    const deliver = () => {
      if (++delivered === 7) free();
      return areAll;
    };
    const { sent, run } = largeRun({ deliver });
    await lastValueFrom(run);
    expect([sent.polls, delivered]).toStrictEqual([7, 7]);
  });
});
