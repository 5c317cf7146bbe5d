import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startMillrace, type MillraceProcess } from '../../../support/millrace.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let shared: SharedRun;
const processes: MillraceProcess[] = [];

beforeEach(async () => {
  shared = await openSharedRun();
});

afterEach(async () => {
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  await shared.close();
});

function start(...argv: string[]): MillraceProcess {
  const { apiKey: MILLRACE_API_KEY, baseUrl: MILLRACE_BASE_URL } = shared.emulator;
  const process = startMillrace([...argv, '--db', shared.url], {
    env: { MILLRACE_API_KEY, MILLRACE_BASE_URL },
  });
  processes.push(process);
  return process;
}

const silent = /worker 1 on host \S+ has been silent for (\d+) s; its 2 rows go on in at most (\d+) s/;

it('says when a killed worker falls silent, and when its rows go on', { timeout: 150_000 }, async () => {
  const { folder, emulator } = shared;
  const rows = [1, 2].map((n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, sleepMs: 3_000 } }));
  const path = folder.manifest(rows);
  const killed = start('worker');
  await killed.prints('working for');
  const flags = ['--mode', 'sync', '--runsync-timeout', '15s', '--concurrency', '2', '--yes'];
  const run = start('run', path, '--out', folder.out, ...flags);
  await until(() => emulator.bill().length === 2);
  killed.child.kill('SIGKILL');
  const killedAt = Date.now();
  start('worker');

  await run.prints('has been silent for');
  await until(() => silent.test(folder.text('run.log')));
  const [, silentFor, atMost] = silent.exec(folder.text('run.log')) ?? [];
  expect(Number(silentFor)).toBeLessThan(20);
  // 40 s until it is taken for dead, and 5 s until the next sweep.
  expect(Number(silentFor) + Number(atMost)).toBeCloseTo(45, -1);
  const status = await shared.call('status', folder.out, '--db', shared.url);
  expect(status.stdout + status.stderr).toMatch(/silent for \d+ s; its 2 rows go on in at most \d+ s/);

  await run.prints('is declared dead: its 2 rows have gone on');
  // The timeout of /runsync and 15 s, and some for a machine that is busy.
  expect(Date.now() - killedAt).toBeLessThan(40_000);
  const { code, stderr } = await run.ended;
  expect(code).toBe(6);
  expect(stderr.match(/silent for/g)).toHaveLength(1);
  expect(emulator.bill()).toHaveLength(2);
});

it('is not hurried by a terminal that is closed: the worker awaits its answers', async () => {
  const { folder, emulator } = shared;
  const path = folder.manifest([{ id: 'r', endpoint: 'echo', input: { n: 1, sleepMs: 3_000 } }]);
  const worker = start('worker');
  await worker.prints('working for');
  const run = start('run', path, '--out', folder.out, '--mode', 'sync', '--yes');
  await until(() => emulator.bill().length === 1);
  worker.child.kill('SIGINT');
  await pause(600);
  worker.child.kill('SIGHUP');
  expect((await worker.ended).code).toBe(0);
  expect((await run.ended).code).toBe(0);
  expect(emulator.bill()).toHaveLength(1);
});
