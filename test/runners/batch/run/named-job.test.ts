import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { lastValueFrom, Subject, tap } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { runBatch } from '../../../../runners/batch/run-batch.js';
import type { Disk, DiskFile } from '../../../../runners/batch/disk/disk.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import type { RunBatchOptions, StopOrder } from '../../../../runners/batch/context/run-options.js';
import { freePort } from '../../../support/loopback-server.js';
import { openSilentShop } from '../../../support/silent-shop.js';

async function openShop() {
  const folder = await mkdtemp(join(tmpdir(), 'named-job-'));
  const { server, posts, state, callBack } = await openSilentShop();
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  const webhooks = { port: await freePort() };
  const run = async (ids: string[], more: Partial<RunBatchOptions> = {}) => {
    const rows = ids.map((id) => `${JSON.stringify({ id, endpoint: 'e', input: { of: id } })}\n`);
    const path = join(folder, 'rows.jsonl');
    await writeFile(path, rows.join(''));
    const last = await lastValueFrom(
      runBatch({
        manifest: { path },
        out: join(folder, 'out'),
        baseUrl: server.url,
        apiKey: 'k',
        webhooks,
        concurrency: 1,
        assumePriceUsd: 0.01,
        ...more,
      }).pipe(
        tap((event) => {
          if (event.type === 'row' && event.event.type === 'waiting' && event.event.why === 'callback')
            lost.next('now');
        }),
      ),
    );
    if (last.type !== 'finished') throw new Error('it has not finished');
    return last;
  };
  const lost = new Subject<StopOrder>();
  const file = (name: string) => readFile(join(folder, 'out', name), 'utf8');
  const loseOne = async () => expect((await run(['a'], { stop: lost })).exitCode).toBe(130);
  return { run, posts, state, callBack, file, loseOne };
}

it.each<[string, Partial<RunBatchOptions>]>([
  ['waits for a slot', { concurrency: 1 }],
  ['waits for its turn', { concurrency: 2, rate: 1 }],
])('a row that %s to be sent again is polled instead, once a callback has named its job', async (_, more) => {
  const again: Partial<RunBatchOptions> = { ...more, retry: ['unknown'] };
  const { run, posts, state, callBack, file, loseOne } = await openShop();
  await loseOne();
  expect((await run(['a'])).exitCode).toBe(6);
  const answers: Promise<number>[] = [];
  state.onPost = () => answers.push(callBack());
  const { exitCode, summary } = await run(['z', 'a'], again);
  expect(await Promise.all(answers)).toEqual([503]);
  expect(posts).toStrictEqual(['a', 'z']);
  expect([exitCode, summary?.rows]).toMatchObject([0, { completed: 2, failed: 0, toDo: 0 }]);
  expect(summary?.cost).toMatchObject({ reported: 0.02, unknown: 0 });
  const { summary: after } = await run(['z', 'a'], again);
  expect(after?.cost).toMatchObject({ reported: 0.02, unknown: 0 });
  expect((await file('costs.csv')).split('\n').filter((line) => line.startsWith('a,'))).toEqual([
    expect.stringMatching(/^a,\d+,1,job-a,e,,0.01,reported/),
  ]);
  expect(
    JSON.parse((await file('results.jsonl')).split('\n').find((line) => line.includes('"id":"a"')) ?? ''),
  ).toMatchObject({
    id: 'a',
    jobId: 'job-a',
    output: { of: 'a' },
  });
  expect(posts).toStrictEqual(['a', 'z']);
});

it('a row that was to be sent again, and that a stop has left, is polled by the next start', async () => {
  const { run, posts, state, callBack, file, loseOne } = await openShop();
  await loseOne();
  expect((await run(['a'])).exitCode).toBe(6);
  const stop = new Subject<StopOrder>();
  state.onPost = () => void callBack().then(() => stop.next('graceful'));
  expect((await run(['z', 'a'], { retry: ['unknown'], stop })).exitCode).toBe(130);
  const { exitCode, summary } = await run(['z', 'a']);
  expect([exitCode, summary?.rows, summary?.cost]).toMatchObject([
    0,
    { completed: 2 },
    { reported: 0.02, unknown: 0 },
  ]);
  expect(posts).toStrictEqual(['a', 'z']);
  expect(await file('costs.csv')).not.toContain('unknown');
});

it('a row whose request was refused, and made a job all the same, is polled and not sent again', async () => {
  const { run, posts, state, callBack } = await openShop();
  state.isRefusing = true;
  state.onPost = () => setTimeout(() => void callBack(), 300);
  const { exitCode, summary } = await run(['a']);
  expect([exitCode, summary?.rows, summary?.cost]).toMatchObject([
    0,
    { completed: 1 },
    { reported: 0.01, unknown: 0 },
  ]);
  expect(posts).toStrictEqual(['a']);
});

it('a row whose request was refused, and made a job that does not end, is held under the cap with its price', async () => {
  const { run, posts, state, callBack } = await openShop();
  state.isRefusing = true;
  state.isStuck = true;
  state.onPost = () => setTimeout(() => void callBack('IN_PROGRESS'), 300);
  const { exitCode, summary } = await run(['a', 'b'], { maxCostUsd: 0.015, timeoutMs: 2_000 });
  expect(posts).toStrictEqual(['a']);
  expect([exitCode, summary?.rows, summary?.cost]).toMatchObject([
    3,
    { completed: 0, failed: 1, toDo: 1 },
    { reported: 0, unknown: 0.01 },
  ]);
});

it.each<[string, RegExp, Partial<RunBatchOptions>]>([
  ['that the request was refused', /"k":"refused"/, {}],
  ['that the last try was refused', /"k":"refused"/, { retries: 0 }],
  ['that it is sent again', /"k":"intent".*"attempt":2/, {}],
])('a row whose callback comes while the journal notes %s is not sent again', async (_, record, more) => {
  const { run, posts, state, callBack, file } = await openShop();
  state.isRefusing = true;
  state.retryAfter = '0';
  const answers: Promise<number>[] = [];
  const disk = whileSynced(record, async () => {
    answers.push(callBack('IN_PROGRESS'));
    await pause(200);
  });
  const first = await run(['a'], { ...more, disk });
  // It contradicts what the journal says then, and its job is asked for all the same.
  expect(await Promise.all(answers)).toStrictEqual([409]);
  const { exitCode, summary } = first.exitCode === 69 ? await run(['a']) : first;
  expect(posts).toStrictEqual(['a']);
  expect([exitCode, summary?.rows, summary?.cost]).toMatchObject([
    ...[0, { completed: 1, toDo: 0 }],
    { reported: 0.01, unknown: 0 },
  ]);
  expect(JSON.parse(await file('results.jsonl'))).toMatchObject({ jobId: 'job-a', output: { of: 'a' } });
});

/** A disk that does something else, once, while it makes such a record durable. */
function whileSynced(record: RegExp, work: () => Promise<unknown>): Disk {
  let isDue = false;
  let isDone = false;
  return {
    ...nodeDisk,
    open: async (...where) => {
      const file = await nodeDisk.open(...where);
      if (!where[0].endsWith('journal.jsonl')) return file;
      return Object.assign(Object.create(file) as DiskFile, {
        write: (bytes: Uint8Array, position: number) => {
          isDue ||= !isDone && record.test(Buffer.from(bytes).toString());
          return file.write(bytes, position);
        },
        sync: async () => {
          const isNow = isDue && !isDone;
          isDone ||= isDue;
          if (isNow) await work();
          return file.sync();
        },
      });
    },
  };
}
