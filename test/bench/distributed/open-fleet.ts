import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { serverPid } from '../../../runners/distributed/embedded/cluster.js';
import { joinEmbedded } from '../../../runners/distributed/embedded/join-embedded.js';
import { measureCommand } from '../measure-command.js';

export const command = 'dist/runners/cli/main.js';
export const apiKey = 'a-key-for-the-bench';

/** A PostgreSQL of its own, and workers on it that have begun. */
export interface BenchFleet {
  readonly client: pg.Client;
  /** The first process of PostgreSQL. */
  readonly postmaster: number;
  readonly workers: readonly ChildProcess[];
  readonly url: string;
  /** Arguments that name the database to a command. */
  readonly db: readonly string[];
  close(): Promise<void>;
}

export async function openFleet(
  folder: string,
  { baseUrl, workers: count }: { baseUrl: string; workers: number },
): Promise<BenchFleet> {
  const server = await joinEmbedded(folder);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const db = ['--db', server.url];
  const worker = [command, 'worker', '--quiet', ...db];
  const env = { ...process.env, MILLRACE_API_KEY: apiKey, MILLRACE_BASE_URL: baseUrl };
  const workers = Array.from({ length: count }, () =>
    spawn(process.execPath, worker, { env, stdio: ['ignore', 'ignore', 'inherit'] }),
  );
  while ((await workersThere(client)) < count) await pause(200);
  const postmaster = (await serverPid(server.folder)) ?? 0;
  return {
    client,
    postmaster,
    workers,
    url: server.url,
    db,
    async close() {
      await Promise.all(workers.map(ended));
      await client.end();
      await server.leave();
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

/** 0 also while the tables are not made yet. */
async function workersThere(client: pg.Client): Promise<number> {
  const counted = await client
    .query<{ there: number }>('select count(*)::int as there from millrace.workers')
    .catch(() => undefined);
  return counted?.rows[0]?.there ?? 0;
}

/** A folder for the runs of a bench, which PostgreSQL may enter. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  await chmod(folder, 0o755);
  return work(folder).finally(() => rm(folder, { recursive: true }));
}

/** A manifest of jobs that the echo endpoint works on for so long. */
export async function writeJobs(folder: string, rows: number, sleepMs: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'rows.jsonl');
  const line = (n: number) => `{"id":"row-${n}","endpoint":"echo","input":{"n":${n},"sleepMs":${sleepMs}}}\n`;
  await writeFile(path, Array.from({ length: rows }, (_, n) => line(n)).join(''));
  return path;
}

/** Runs a manifest to its end by the command line. Returns the CPU that its process took, in ms. */
export async function runToTheEnd(args: readonly string[], baseUrl: string): Promise<number> {
  const all = [command, 'run', ...args, '--yes', '--quiet'];
  const cost = await measureCommand(all, { MILLRACE_API_KEY: apiKey, MILLRACE_BASE_URL: baseUrl });
  if (cost.code !== 0) throw new Error(`${all.join(' ')} ended with ${String(cost.code)}: ${cost.stderr}`);
  return cost.cpuMs;
}
