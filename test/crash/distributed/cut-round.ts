import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openServer } from '../../support/database.js';
import {
  billOf,
  command,
  compareBooks,
  key,
  startService,
  type KillReport,
  type SentRow,
} from '../kill-rounds.js';
import { openLink, type Link } from './open-link.js';

export interface CutRound {
  readonly rows: number;
  /** How long the link is cut for; longer, up to a minute, until a row has ended meanwhile. */
  readonly seconds: number;
  /** Of the service. */
  readonly jobMs: number;
  /** Rows in flight over both hosts. */
  readonly concurrency: number;
  /** @defaultValue namespaces, where they are to be had */
  readonly link?: Link['kind'];
  readonly print?: (line: string) => void;
}

export interface CutReport extends KillReport {
  readonly link: Link['kind'];
  /** Rows that had ended when the link was cut, and when it was mended. */
  readonly ended: readonly [cut: number, mended: number];
}

/** A run with a worker on each of two hosts, the link between which is cut in the middle; then the books are compared. */
export async function cutRound(options: CutRound): Promise<CutReport> {
  const { rows, seconds, jobMs, concurrency, print = () => undefined } = options;
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cut-'));
  const out = join(folder, 'out');
  const children: ChildProcess[] = [];
  const service = await startService(1);
  const server = await openServer();
  const link = openLink(options.link);
  try {
    const baseUrl = await link.service(service.baseUrl);
    const db = await link.database(server.url);
    const start = (args: readonly string[], url: string, within: readonly string[] = []): ChildProcess => {
      const [program, ...rest] = [...within, process.execPath, command, ...args, '--db', url];
      const env = { ...process.env, MILLRACE_API_KEY: key, MILLRACE_BASE_URL: baseUrl };
      const child = spawn(program, rest, { env, stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr.setEncoding('utf8').on('data', (text: string) => print(`${args[0]}: ${text.trimEnd()}`));
      children.push(child);
      return child;
    };
    const sent = await writeManifest(folder, rows, jobMs);
    start(['worker', '--quiet'], db.near);
    start(['worker', '--quiet'], db.far, link.within);
    const flags = ['--concurrency', String(concurrency), '--yes', '--quiet'];
    const run = start(['run', join(folder, 'rows.jsonl'), '--out', out, ...flags], db.near);
    const closed = once(run, 'close') as Promise<[number | null]>;
    while ((await endedRows(out)) < rows / 4) await pause(100);
    const atCut = await endedRows(out);
    link.cut();
    print(`cut at ${atCut} rows (${link.kind})`);
    const cutAt = Date.now();
    await pause(seconds * 1_000);
    // On a busy machine it takes longer until the other host's worker has ended one: it is given a minute.
    while ((await endedRows(out)) === atCut && Date.now() - cutAt < 60_000) await pause(500);
    link.mend();
    const atMend = await endedRows(out);
    print(`mended after ${Math.round((Date.now() - cutAt) / 1_000)} s, at ${atMend} rows`);
    const [exitCode] = await closed;
    const report = await compareBooks(sent, out, await billOf(service.baseUrl), { exitCode, kills: 0 });
    return { ...report, link: link.kind, ended: [atCut, atMend] };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    link.close();
    service.process.kill('SIGTERM');
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeManifest(folder: string, rows: number, jobMs: number): Promise<SentRow[]> {
  const sent = Array.from({ length: rows }, (_, index) => {
    const id = `job-${index + 1}`;
    return { id, endpoint: 'grind', input: { row: id, sleepMs: jobMs } };
  });
  await writeFile(join(folder, 'rows.jsonl'), sent.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return sent;
}

async function endedRows(out: string): Promise<number> {
  return (await readFile(join(out, 'results.jsonl'), 'utf8').catch(() => '')).split('\n').length - 1;
}
