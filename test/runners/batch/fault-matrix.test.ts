import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../runners/emulator/index.js';
import type { JournalRecord } from '../../../runners/batch/journal/record.js';
import { runBatch, type RunBatchOptions } from '../../../runners/batch/run-batch.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import { hurriedClock } from '../../support/hurried-clock.js';
import { type LoopbackServer, serveHttp } from '../../support/loopback-server.js';
import { onePixel } from '../../support/other-server.js';
import { finished, runFolder, type RunFolder } from '../../support/run-folder.js';
import { seeded } from '../../support/seeded.js';
import { type AnsweredRow, type FailedRow, wrongAnswers } from '../../support/whose-answers.js';

const jobs = 120;
const edits = 60;

let folder: RunFolder;
let pictures: LoopbackServer;
let emulator: Emulator | undefined;

beforeEach(async () => {
  folder = runFolder();
  const random = seeded(11);
  pictures = await serveHttp(({ url = '' }, reply) => {
    const bytes = pictureOf(url.slice(1, -'.png'.length));
    if (random() < 0.2) reply.writeHead(503).end();
    else if (random() < 0.1)
      reply.writeHead(200, { 'content-length': 900 }).end(bytes, () => reply.destroy());
    else reply.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
  });
});
afterEach(async () => {
  await emulator?.close();
  await pictures[Symbol.asyncDispose]();
  folder.remove();
});

/** Each row has a picture of its own. */
function pictureOf(row: string): Buffer {
  return Buffer.concat([onePixel, Buffer.from(row)]);
}

/** Half of the edits wait for their answer, which the service may stop waiting for; all jobs are polled. */
async function run(faults: string, options: Partial<RunBatchOptions> = {}) {
  const functions = {
    queue: {
      grind: (input: { row: string }) => ({ echo: input, cost: 0.002 }),
      paint: (input: { prompt: string }) => ({
        echo: input,
        image_url: `${pictures.url}/${input.prompt}.png`,
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
      input: requestOf(`job-${n}`),
    })),
    ...Array.from({ length: edits }, (_, n) => ({
      id: `edit-${n}`,
      endpoint: 'paint',
      ...requestOf(`edit-${n}`),
    })),
  ]);
  const scheduler = hurriedClock(20);
  const base = { manifest: { path }, out: folder.out, baseUrl, lbBaseUrl, apiKey, concurrency: 24 };
  const clock = { scheduler, random: seeded(5), schedule: pollFixed(200, scheduler) };
  const end = await finished(runBatch({ ...base, ...clock, ...options }));
  const bill = emulator.bill().map((line) => {
    const { row, prompt } = line.input as { row?: string; prompt?: string };
    return { ...line, row: row ?? prompt ?? '' };
  });
  const failures = folder.lines('failures.jsonl') as unknown as FailureLine[];
  const results = folder.lines('results.jsonl') as unknown as ResultLine[];
  return { ...end, bill, failures, results };
}

type FailureLine = FailedRow & { readonly error: { code: string; message: string } };
type ResultLine = AnsweredRow & { readonly image?: { readonly path: string } };

function requestOf(row: string): object {
  return row.startsWith('job-') ? { row } : { images: ['http://example.test/a.png'], prompt: row };
}

function expectOwnAnswers({ bill, failures, results }: Awaited<ReturnType<typeof run>>): void {
  const jobs = new Map(bill.map(({ endpoint, id, row }) => [`${endpoint}/${id}`, row]));
  const broken = wrongAnswers({
    results,
    failures,
    requestOf,
    costs: folder.costs(),
    journal: folder.lines('journal.jsonl') as unknown as JournalRecord[],
    rowOfJob: (endpoint, jobId) => jobs.get(`${endpoint}/${jobId}`),
  });
  expect(broken).toEqual([]);
  for (const { id, image } of results)
    if (id.startsWith('edit-'))
      expect(readFileSync(join(folder.out, image?.path ?? '')).equals(pictureOf(id)), id).toBe(true);
}

function expectNothingTwice(bill: readonly { row: string; executions: number }[]): void {
  expect(bill.filter(({ executions }) => executions > 1)).toEqual([]);
  const rows = bill.map(({ row }) => row);
  expect(rows.filter((row, index) => rows.indexOf(row) !== index)).toEqual([]);
}

describe('the fault matrix', () => {
  it('completes every row, none twice, whatever befalls refusals, polls and downloads [fault 3]', async () => {
    const end = await run(
      '429=0.1:1,500@status=0.05,reset-before@status=0.05,reset-after@status=0.05,cut@status=0.05,html@status=0.05,early-runsync=0.3',
      { retries: 8 },
    );
    const { exitCode, reason, bill, failures, results } = end;
    expectOwnAnswers(end);
    expect([exitCode, reason]).toEqual([0, `${jobs + edits} rows completed.`]);
    expect(failures).toEqual([]);
    expect(results).toHaveLength(jobs + edits);
    expectNothingTwice(bill);
    const billed = bill.reduce((sum, { costMicroDollars }) => sum + costMicroDollars, 0);
    const booked = folder.costs().reduce((sum, { cost }) => sum + Math.round(Number(cost) * 1e6), 0);
    expect(booked).toBe(billed);
  }, 120_000);

  it('holds as unknown the rows whose answer was lost after acceptance, and no others [fault 2]', async () => {
    const end = await run('reset-after@run+runsync=0.08,cut@run+runsync=0.08,429=0.05:1,html@status=0.05', {
      retries: 8,
    });
    const { exitCode, bill, failures, results } = end;
    expectOwnAnswers(end);
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
