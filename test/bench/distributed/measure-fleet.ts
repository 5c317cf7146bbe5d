// Rows a second of a distributed run with 1, 2 and 4 workers, each a process of its own, against the emulator and a
// PostgreSQL of its own: `npm run bench:distributed`. With `--rate N`: what four workers make of a rate, at a service that
// takes no more. With `--waiting N`: the memory of two workers while they bring N rows in flight; with `--asking N`: while
// they ask for N jobs that were bought before, and that do not end.
import { fork, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../../runners/emulator/index.js';
import type { RowTask } from '../../../runners/batch/row/row-after.js';
import { beginStart, forgetRun, makeRun } from '../../../runners/distributed/table/runs.js';
import { readState } from '../../../runners/distributed/table/run-state.js';
import type { RunTerms } from '../../../runners/distributed/table/run-terms.js';
import databaseServer from '../../support/database-server.js';
import { feedRows } from '../../support/fleet.js';
import { openRunDatabase, rowsOf, termsWith, type RunDatabase } from '../../support/run-database.js';

interface Measure {
  readonly rows: number;
  readonly workers: number;
  readonly input?: Record<string, unknown>;
  readonly terms: Partial<RunTerms>;
  readonly emulator: EmulatorOptions;
}

const { values } = parseArgs({
  options: {
    ...{ rows: { type: 'string' }, waiting: { type: 'string' } },
    ...{ rate: { type: 'string' }, asking: { type: 'string' } },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const workerScript = `node_modules/.cache/scripts/bench-worker-${process.pid}.mjs`;
await build({
  ...{ entryPoints: ['test/bench/distributed/bench-worker.ts'], outfile: workerScript, bundle: true },
  ...{ platform: 'node', format: 'esm', target: 'node20', packages: 'external', logLevel: 'error' },
});
const letGo = await databaseServer();
const database = await openRunDatabase();
if (values.waiting !== undefined) await measureWaiting(Number(values.waiting));
else if (values.asking !== undefined) await measureAsking(Number(values.asking));
else if (values.rate !== undefined) await measureRate(Number(values.rate));
else await measureRows(Number(values.rows ?? 2_000));
await database.close();
await letGo();

async function measureRows(rows: number): Promise<void> {
  for (const workers of [1, 2, 4]) {
    const terms = { concurrency: 400 };
    let cpuMs = 0;
    let commits = -(await commitsOfDatabase());
    const measured = { rows, workers, terms, emulator: { workers: 400 } };
    const seconds = await withRun(measured, async (run, children) => {
      await ended(run, rows);
      commits += await commitsOfDatabase();
      for (const { pid } of children) cpuMs += await cpuTimeMs(pid ?? 0);
    });
    const rate = `${Math.round(rows / seconds)} rows/s (${rows} rows in ${seconds.toFixed(1)} s)`;
    print(
      `${workers} workers: ${rate}, ${(cpuMs / rows).toFixed(1)} ms of their processors and ${(commits / rows).toFixed(2)} commits a row`,
    );
  }
}

async function measureRate(rate: number): Promise<void> {
  const rows = rate * 10;
  const measure = {
    rows,
    workers: 4,
    terms: { rate, concurrency: 4 * rate },
    emulator: { workers: 400, rateLimit: rate },
  };
  await withRun(measure, async (run, children) => {
    const from = Date.now();
    await ended(run, rows);
    const seconds = (Date.now() - from) / 1_000;
    const all = (await Promise.all(children.map(statusesOf))).flatMap((statuses) => Object.entries(statuses));
    const requests = all.reduce((sum, [, count]) => sum + count, 0);
    const refused = all.reduce((sum, [status, count]) => sum + (status === '429' ? count : 0), 0);
    const share = Math.round((requests / seconds / rate) * 100);
    print(
      `four workers at --rate ${rate}: ${requests} requests in ${seconds.toFixed(1)} s, ${share} % of it, ${refused} refused`,
    );
  });
}

/** What a worker counted of its answers, once it has left. */
async function statusesOf(child: ChildProcess): Promise<Record<string, number>> {
  const left = new Promise<Record<string, number>>((done) =>
    child.on('message', (message: { statuses?: Record<string, number> }) => {
      if (message.statuses !== undefined) done(message.statuses);
    }),
  );
  child.send('stop');
  return left;
}

/** Rows that wait for slow jobs, and what the workers weigh meanwhile. */
async function measureWaiting(rows: number): Promise<void> {
  const measure = {
    ...{ rows, workers: 2, input: { sleepMs: 3_600_000 } },
    ...{ terms: { concurrency: rows }, emulator: { workers: 4, maxQueued: rows } },
  };
  await withRun(measure, async (run, children) => {
    for (;;) {
      await pause(10_000);
      const { inFlight, open } = await readState(database, run);
      const megabytes = await Promise.all(children.map(({ pid }) => residentMegabytes(pid ?? 0)));
      print(`${inFlight} in flight, ${open} to be sent: ${megabytes.join(' and ')} MB`);
      if (inFlight >= rows) return;
    }
  });
}

async function measureAsking(rows: number): Promise<void> {
  let calls = 0;
  const service = createServer((request, response) => {
    calls += 1;
    const id = request.url?.split('/').at(-1);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ id, status: 'IN_PROGRESS' }));
  });
  await new Promise<void>((listening) => service.listen(0, '127.0.0.1', listening));
  const { port } = service.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const identity = { baseUrl, lbBaseUrl: '', local: false };
  const run = await openRun('asking', { identity, timeoutMs: 86_400_000 });
  const all = rowsOf(rows).map(({ row }): RowTask => ({
    what: 'poll',
    row,
    jobId: `job-${row.id}`,
    attempts: 0,
  }));
  for (let at = 0; at < rows; at += 1_000) await feedRows(database, run, all.slice(at, at + 1_000));
  const children = await Promise.all([1, 2].map(() => startWorker(database, { baseUrl, apiKey: 'bench' })));
  for (let round = 0; round < 12; round++) {
    await pause(10_000);
    const megabytes = await Promise.all(children.map(({ pid }) => residentMegabytes(pid ?? 0)));
    const { inFlight } = await readState(database, run);
    print(`${inFlight} in flight, ${calls} status calls: ${megabytes.join(' and ')} MB`);
  }
  for (const child of children) child.kill();
  service.close();
}

/** So far; the looks of this process are among them. */
async function commitsOfDatabase(): Promise<number> {
  // PostgreSQL reports its counts up to a second late.
  await pause(1_500);
  const { rows } = await database.pool.query<{ commits: number }>(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.commits ?? 0;
}

/** Of a process so far, its start among it. */
async function cpuTimeMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}

async function withRun(
  { rows, workers, input, terms, emulator: options }: Measure,
  measure: (run: number, children: readonly ChildProcess[]) => Promise<void>,
): Promise<number> {
  const emulator = await startEmulator({ key: 'bench', maxJobs: 10 * rows, ...options });
  const identity = { baseUrl: emulator.baseUrl, lbBaseUrl: '', local: false };
  const run = await openRun(`bench ${workers}`, { identity, timeoutMs: 86_400_000, ...terms });
  const children = await Promise.all(Array.from({ length: workers }, () => startWorker(database, emulator)));
  const from = Date.now();
  await Promise.all([feed(run, rowsOf(rows, input)), measure(run, children)]);
  const seconds = (Date.now() - from) / 1_000;
  for (const child of children) child.kill();
  await forgetRun(database, run);
  await emulator.close();
  return seconds;
}

async function openRun(key: string, terms: Partial<RunTerms>): Promise<number> {
  const run = await makeRun(database, key);
  await beginStart(database, { run, start: 0 }, termsWith(terms), { spent: 0, unknown: 0, collected: 0 });
  return run;
}

async function feed(run: number, rows: readonly RowTask[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 1_000) {
    while ((await readState(database, run)).open > 2_000) await pause(50);
    await feedRows(database, run, rows.slice(at, at + 1_000));
  }
}

async function ended(run: number, rows: number): Promise<void> {
  for (;;) {
    const { open, inFlight, seq } = await readState(database, run);
    if (seq >= rows && open + inFlight === 0) return;
    await pause(20);
  }
}

async function startWorker(
  { url }: RunDatabase,
  { baseUrl, apiKey }: Pick<Emulator, 'baseUrl' | 'apiKey'>,
): Promise<ChildProcess> {
  const env = { ...process.env, BENCH_DATABASE: url, BENCH_BASE_URL: baseUrl, BENCH_KEY: apiKey };
  const child = fork(workerScript, { env });
  await new Promise((done) => child.once('message', done));
  return child;
}
