import { defer, firstValueFrom, map, of, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { UploadError, type PictureHost } from '../../../../runners/batch/uploads/picture-host.js';
import { localPicture } from '../../../../runners/batch/uploads/create-picture-host.js';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';
import { paperRun } from '../../../support/paper-run.js';
import { replied } from '../../../support/virtual-time.js';

const timeoutMs = 3_600_000;

/** A run whose pictures lie at addresses that say until when they live, and what its requests named, each with its time. */
function hostedRun() {
  const run = paperRun();
  const now = () => run.scheduler.now();
  const host: PictureHost = {
    put: (path) => Promise.resolve(`s3://b/${path}`),
    addressOf: (name, lifetimeMs) =>
      Promise.resolve(`https://store.test/${name}?until=${now() + lifetimeMs}`),
    close: () => Promise.resolve(),
  };
  const sent: { at: number; until: number }[] = [];
  const start = (options: Partial<RunBatchOptions> = {}) =>
    run.start({
      ...options,
      timeoutMs,
      concurrency: 1,
      pictureHost: () => Promise.resolve(host),
      transport: (request) =>
        defer(() => {
          const [until] = /(?<=until=)\d+/.exec(request.body ?? '') ?? [];
          if (until !== undefined) sent.push({ at: now(), until: Number(until) });
          return run.service.transport(request);
        }),
    });
  run.manifest([{ id: 'a', endpoint: 'image-edit', images: [localPicture('a.png')], prompt: 'a' }]);
  return { run, sent, start };
}

describe('the address of a picture of this machine', () => {
  it('outlives the deadline, and stands in no file', async () => {
    const { run, sent, start } = hostedRun();
    expect((await start()).exitCode).toBe(0);
    expect(sent).toHaveLength(1);
    expect(sent[0]!.until).toBeGreaterThan(sent[0]!.at + timeoutMs);
    for (const path of run.disk.paths())
      expect(run.disk.peek(path)?.toString(), path).not.toContain('until=');
  });

  it('is made anew by a second start, that of the first would not outlive the deadline', async () => {
    const { run, sent, start } = hostedRun();
    run.service.behave = () => 'unreachable';
    expect((await start()).exitCode).toBe(69);
    const before = sent.length;
    expect(before).toBeGreaterThan(0);
    run.scheduler.frame = sent.at(-1)!.until - timeoutMs + 60_000;
    run.service.behave = () => 'complete';
    expect((await start()).exitCode).toBe(0);
    const [again] = sent.slice(before);
    expect(again!.until).toBeGreaterThan(again!.at + timeoutMs);
    expect(run.service.posts).toEqual(['a']);
  });
});

it('a row with an uploaded picture is known in the form of another editor, and is not bought again', async () => {
  const { run, start } = hostedRun();
  const asks = (prompt: string) => [
    { id: 'a', endpoint: 'image-edit', images: [localPicture('a.png')], prompt },
  ];
  run.manifest(asks('one\r\ntwo'));
  await start();
  run.manifest(asks('one\ntwo'));
  await start({ changed: 'redo' });
  expect(run.service.posts).toHaveLength(1);
});

it.each([
  ['refuses it', (url: string) => ({ status: 400, body: { id: 'j', status: 'FAILED', error: `no ${url}` } })],
  ['completes', (url: string) => ({ output: { images: [url], cost: 0.0875 } })],
])('the signature of its URL is in no file where the service repeats it and %s', async (_how, answer) => {
  const run = paperRun();
  const signature = '5f'.repeat(32);
  const host: PictureHost = {
    put: (path) => Promise.resolve(`s3://b/${path}`),
    addressOf: (name) => Promise.resolve(`https://store.test/${name}?X-Amz-Signature=${signature}`),
    close: () => Promise.resolve(),
  };
  let sent = '';
  run.service.behave = () => answer(/https:[^"]+/.exec(sent)?.[0] ?? '');
  run.manifest([{ id: 'a', endpoint: 'image-edit', images: [localPicture('a.png')], prompt: 'a' }]);
  await run.start({
    pictureHost: () => Promise.resolve(host),
    transport: (request) => {
      sent = request.body ?? sent;
      return run.service.transport(request);
    },
  });
  expect(sent).toContain(signature);
  const files = run.disk.paths().map((path) => run.disk.peek(path)?.toString());
  expect(files.join()).toContain('a.png?X-Amz-Signature=[redacted]');
  expect(files.join()).not.toContain(signature.slice(0, 40));
});

describe('the signature of a picture whose row another start has sent', () => {
  const signature = '5f'.repeat(32);
  const hash = 'a7'.repeat(32);
  const host: PictureHost = {
    put: () => Promise.resolve(`s3://b/in/${hash}.png`),
    addressOf: (name) => {
      const [, key = ''] = name.split('s3://b/');
      return Promise.resolve(`https://b.store.test/${key}?X-Amz-Date=1&X-Amz-Signature=${signature}`);
    },
    close: () => Promise.resolve(),
  };
  const given = `https://b.store.test/in/${hash}.png?X-Amz-Date=1&X-Amz-Signature=${signature}`;
  // Named after what it was made of, beside it in the same bucket.
  const result = `https://b.store.test/out/in/${hash}.png?X-Amz-Date=2&X-Amz-Signature=${'e1'.repeat(32)}`;
  const output = { image_url: result, input: { images: [given] }, cost: 0.0875 };

  it.each([
    ['completes', { status: 'COMPLETED', output }],
    ['fails', { status: 'FAILED', error: `cannot fetch ${given}` }],
    ['reports an error of the function', { status: 'FAILED', error: JSON.stringify({ url: given }) }],
  ])('is in no file where the job %s, and the URL of its result stays whole', async (_how, end) => {
    const run = paperRun();
    run.service.behave = () => 'hang';
    run.manifest([{ id: 'a', endpoint: 'image-edit', images: [localPicture('a.png')], prompt: 'a' }]);
    const pictureHost = () => Promise.resolve(host);
    const stop = timer(5_000, run.scheduler).pipe(map(() => 'graceful' as const));
    expect((await run.start({ pictureHost, stop })).exitCode).toBe(130);
    const fetched: string[] = [];
    await run.start({
      pictureHost,
      transport: (request) => defer(() => of(replied(200, { id: request.url.split('/').at(-1), ...end }))),
      saveFrom: (request, onChunk) => {
        fetched.push(request.url);
        return run.service.download(request, onChunk);
      },
    });
    expect(run.service.posts).toEqual(['a']);
    const files = run.disk.paths().map((path) => run.disk.peek(path)?.toString());
    expect(files.join()).toContain('X-Amz-Signature=[redacted]');
    expect(files.join()).not.toContain(signature.slice(0, 40));
    expect(fetched).toEqual(end.status === 'COMPLETED' ? [result] : []);
  });
});

it('a store that is away ends the run, but not the polls of what is accepted and paid for', async () => {
  const run = paperRun();
  run.service.behave = () => 'hang';
  const after = (ms: number) => firstValueFrom(timer(ms, run.scheduler));
  const host: PictureHost = {
    put: async () => {
      await after(5_000);
      void after(10_000).then(() => run.service.revive('job-a-1'));
      throw new UploadError('unreachable', 'the store is away');
    },
    addressOf: () => Promise.reject(new Error('nothing is uploaded')),
    close: () => Promise.resolve(),
  };
  run.manifest([
    { id: 'a', endpoint: 'echo', input: { row: 'a' } },
    { id: 'b', endpoint: 'image-edit', images: [localPicture('b.png')], prompt: 'b' },
  ]);
  const end = await run.start({ concurrency: 2, pictureHost: () => Promise.resolve(host) });
  expect(end).toMatchObject({ exitCode: 69, reason: expect.stringContaining('the store is away') as string });
  expect(end.reason).not.toContain('the service');
  const { completed, toDo } = end.summary.rows;
  expect({ completed, toDo, posts: run.service.posts }).toEqual({ completed: 1, toDo: 1, posts: ['a'] });
});
