import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../runners/emulator/index.js';
import { runBatch, type RunBatchOptions } from '../../../runners/batch/run-batch.js';
import { fixed } from '../../../src/policy/fixed.js';
import { hurriedClock } from '../../support/hurried-clock.js';
import { type LoopbackServer, serveHttp } from '../../support/loopback-server.js';
import { onePixel } from '../../support/other-server.js';
import { finished, runFolder, type RunFolder } from '../../support/run-folder.js';
import { seeded } from '../../support/seeded.js';

const jobs = 120;
const edits = 60;

let folder: RunFolder;
let pictures: LoopbackServer;
let emulator: Emulator | undefined;

beforeEach(async () => {
  folder = runFolder();
  const random = seeded(11);
  pictures = await serveHttp((_request, reply) => {
    if (random() < 0.2) reply.writeHead(503).end();
    else if (random() < 0.1)
      reply.writeHead(200, { 'content-length': 900 }).end(onePixel, () => reply.destroy());
    else reply.writeHead(200, { 'content-type': 'image/png' }).end(onePixel);
  });
});
afterEach(async () => {
  await emulator?.close();
  await pictures[Symbol.asyncDispose]();
  folder.remove();
});

/** Half of the edits wait for their answer, which the service may stop waiting for; all jobs are polled. */
async function run(faults: string, options: Partial<RunBatchOptions> = {}) {
  const functions = {
    queue: {
      grind: ({ row }: { row: string }) => ({ row, cost: 0.002 }),
      paint: ({ prompt }: { prompt: string }) => ({
        image_url: `${pictures.url}/${prompt}.png`,
        cost: 0.0875,
      }),
    },
  };
  emulator = await startEmulator({
    faults,
    functions: functions as never,
    latency: 'uniform:1-10',
    workers: 16,
  });
  const { baseUrl, lbBaseUrl, apiKey } = emulator;
  const path = folder.manifest([
    ...Array.from({ length: jobs }, (_, n) => ({
      id: `job-${n}`,
      endpoint: 'grind',
      input: { row: `job-${n}` },
    })),
    ...Array.from({ length: edits }, (_, n) => ({
      id: `edit-${n}`,
      endpoint: 'paint',
      images: ['http://example.test/a.png'],
      prompt: `edit-${n}`,
    })),
  ]);
  const scheduler = hurriedClock(20);
  const base = { manifest: { path }, out: folder.out, baseUrl, lbBaseUrl, apiKey, concurrency: 24 };
  const clock = { scheduler, random: seeded(5), schedule: fixed(200, scheduler) };
  const end = await finished(runBatch({ ...base, ...clock, ...options }));
  const bill = emulator.bill().map((line) => {
    const { row, prompt } = line.input as { row?: string; prompt?: string };
    return { ...line, row: row ?? prompt ?? '' };
  });
  const failures = folder.lines('failures.jsonl') as {
    id: string;
    error: { code: string; message: string };
  }[];
  return { ...end, bill, failures, results: folder.lines('results.jsonl') as { id: string }[] };
}

function expectNothingTwice(bill: readonly { row: string; executions: number }[]): void {
  expect(bill.filter(({ executions }) => executions > 1)).toEqual([]);
  const rows = bill.map(({ row }) => row);
  expect(rows.filter((row, index) => rows.indexOf(row) !== index)).toEqual([]);
}

describe('the fault matrix', () => {
  it('completes every row, none twice, whatever befalls refusals, polls and downloads', async () => {
    const { exitCode, reason, bill, failures, results } = await run(
      '429=0.1:1,500@status=0.05,reset-before@status=0.05,reset-after@status=0.05,cut@status=0.05,html@status=0.05,early-runsync=0.3',
      { retries: 8 },
    );
    expect([exitCode, reason]).toEqual([0, `${jobs + edits} rows completed.`]);
    expect(failures).toEqual([]);
    expect(results).toHaveLength(jobs + edits);
    expectNothingTwice(bill);
    const billed = bill.reduce((sum, { costMicroDollars }) => sum + costMicroDollars, 0);
    const booked = folder.costs().reduce((sum, { cost }) => sum + Math.round(Number(cost) * 1e6), 0);
    expect(booked).toBe(billed);
  }, 120_000);

  it('holds as unknown the rows whose answer was lost after acceptance, and no others', async () => {
    const { exitCode, bill, failures, results } = await run(
      'reset-after@run+runsync=0.08,cut@run+runsync=0.08,429=0.05:1,html@status=0.05',
      { retries: 8 },
    );
    expect([...new Set(failures.map(({ error }) => error.code))]).toEqual(['unknown']);
    expect(failures.length).toBeGreaterThan(8);
    expect(results.length + failures.length).toBe(jobs + edits);
    expect(exitCode).toBe(6);
    expectNothingTwice(bill);
    const bought = new Set(bill.map(({ row }) => row));
    expect(failures.filter(({ id }) => !bought.has(id))).toEqual([]);
    const held = new Set(failures.map(({ id }) => id));
    const billed = bill.reduce((sum, line) => sum + (held.has(line.row) ? 0 : line.costMicroDollars), 0);
    const reported = folder.costs().filter(({ source }) => source === 'reported');
    expect(reported.reduce((sum, { cost }) => sum + Math.round(Number(cost) * 1e6), 0)).toBe(billed);
    expect(folder.costs().filter(({ source }) => source === 'unknown')).toHaveLength(failures.length);
  }, 120_000);
});
