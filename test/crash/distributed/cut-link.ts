import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openServer } from '../../support/database.js';
import { billOf, command, compareBooks, key, startService } from '../kill-rounds.js';

// As root, on Linux: node .config/run-ts.mjs test/crash/distributed/cut-link.ts [rows] [seconds]
// Two hosts, as network namespaces: the link between the second one's worker and all else is cut in the middle of a run.
const rows = Number(process.argv[2] ?? 600);
const seconds = Number(process.argv[3] ?? 20);
const host = '10.77.0.1';
const say = (line: string) => process.stdout.write(`${line}\n`);
const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });

const folder = await mkdtemp(join(tmpdir(), 'millrace-cut-'));
const out = join(folder, 'out');
const children: ChildProcess[] = [];
const service = await startService(1);
const server = await openServer();
try {
  openLink();
  const baseUrl = await reachable(service.baseUrl);
  const db = await reachable(server.url);
  const ids = Array.from({ length: rows }, (_, index) => `job-${index + 1}`);
  const line = (row: string) =>
    `${JSON.stringify({ id: row, endpoint: 'grind', input: { row, sleepMs: 900 } })}\n`;
  await writeFile(join(folder, 'rows.jsonl'), ids.map(line).join(''));
  start(['worker', '--quiet']);
  start(['worker', '--quiet'], ['ip', 'netns', 'exec', 'millrace-far']);
  const flags = ['--concurrency', '32', '--yes', '--quiet'];
  const run = start(['run', join(folder, 'rows.jsonl'), '--out', out, ...flags]);
  const ended = once(run, 'exit') as Promise<[number | null]>;
  while ((await endedRows()) < rows / 4) await pause(100);
  ip('link', 'set', 'millrace-near', 'down');
  say(`cut at ${await endedRows()} rows`);
  await pause(seconds * 1_000);
  ip('link', 'set', 'millrace-near', 'up');
  say(`mended after ${seconds} s, at ${await endedRows()} rows`);
  const [exitCode] = await ended;
  const report = await compareBooks(ids, out, await billOf(service.baseUrl), { exitCode, kills: 0 });
  say(JSON.stringify(report, undefined, 2));
  if (report.broken.length > 0) process.exitCode = 1;

  function start(args: readonly string[], within: readonly string[] = []): ChildProcess {
    const [program, ...rest] = [...within, process.execPath, command, ...args, '--db', db];
    const env = { ...process.env, MILLRACE_API_KEY: key, MILLRACE_BASE_URL: baseUrl };
    const child = spawn(program, rest, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    children.push(child);
    return child;
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  closeLink();
  service.process.kill('SIGTERM');
  await server.close();
  await rm(folder, { recursive: true, force: true });
  process.exit();
}

function openLink(): void {
  closeLink();
  ip('netns', 'add', 'millrace-far');
  ip('link', 'add', 'millrace-near', 'type', 'veth', 'peer', 'name', 'far0', 'netns', 'millrace-far');
  ip('addr', 'add', `${host}/24`, 'dev', 'millrace-near');
  ip('link', 'set', 'millrace-near', 'up');
  ip('-n', 'millrace-far', 'addr', 'add', '10.77.0.2/24', 'dev', 'far0');
  ip('-n', 'millrace-far', 'link', 'set', 'far0', 'up');
}

function closeLink(): void {
  for (const args of [
    ['link', 'del', 'millrace-near'],
    ['netns', 'del', 'millrace-far'],
  ]) {
    try {
      ip(...args);
    } catch {
      // It is not there.
    }
  }
}

/** The same address, as the other host reaches it: what listens on loopback is passed on. */
async function reachable(url: string): Promise<string> {
  const { port, host: address } = new URL(url);
  const forward = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => [near, far].forEach((one) => one.destroy()));
  });
  await once(forward.listen(0, host), 'listening');
  return url.replace(address, `${host}:${(forward.address() as AddressInfo).port}`);
}

async function endedRows(): Promise<number> {
  return (await readFile(join(out, 'results.jsonl'), 'utf8').catch(() => '')).split('\n').length - 1;
}
