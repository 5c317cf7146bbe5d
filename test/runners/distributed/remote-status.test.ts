import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSharedRun, type SharedRun } from '../../support/shared-run.js';

let run: SharedRun;
beforeAll(async () => {
  run = await openSharedRun();
  run.folder.manifest([{ id: 'r0', endpoint: 'echo', input: {} }]);
  await run.work();
  expect((await run.collect()).exitCode).toBe(0);
});
afterAll(() => run.close());

it('names the workers and what they do', async () => {
  const { code, stdout } = await run.call('status', 'out', '--db', run.url);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}database +postgres.*: 0 wait, 0 in flight$/m);
  expect(stdout).toMatch(new RegExp(`^ {2}worker +\\S+, process ${process.pid}, for \\S+.*: waits$`, 'm'));
  expect(stdout).not.toContain(new URL(run.url).password);
});

it('names them as JSON', async () => {
  const { code, stdout } = await run.call('status', 'out', '--json', '--db', run.url);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    distributed: {
      state: { open: 0, inFlight: 0, reserved: 0, seq: 4 },
      workers: [{ pid: process.pid, does: { sends: 0, polls: 0, saves: 0 } }],
    },
  });
});

it('tells what the folder knows while the database is away', async () => {
  const away = ['--db', 'postgres://millrace@127.0.0.1:1/millrace'];
  const { code, stdout, stderr } = await run.call('status', 'out', ...away);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^ {2}database .*cannot be reached: nothing listens there/m);
  const json = await run.call('status', 'out', '--json', ...away);
  expect(json.code).toBe(0);
  const { distributed, ...known } = JSON.parse(json.stdout) as Record<string, unknown>;
  expect(distributed).toMatchObject({ problem: expect.stringContaining('cannot be reached') });
  const { distributed: there, ...same } = JSON.parse(
    (await run.call('status', 'out', '--json', '--db', run.url)).stdout,
  ) as Record<string, unknown>;
  expect(there).toBeDefined();
  expect(known).toEqual(same);
});

it('names the database that was asked, and says where that does not know the run', async () => {
  const other = new URL(run.url);
  other.pathname = '/postgres';
  const { code, stdout } = await run.call('status', 'out', '--db', other.href);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^ {2}database .*\/postgres: it does not know the run: /m),
  ]);
});

it('plan and settle note that workers may have bought more than the folder knows', async () => {
  const path = join(run.folder.out, 'distributed.json');
  const note = run.folder.text('distributed.json');
  const plan = () =>
    run.call(
      'plan',
      'manifest.jsonl',
      '--out',
      'out',
      '--base-url',
      run.emulator.baseUrl,
      '--lb-base-url',
      run.emulator.lbBaseUrl,
    );
  const settle = () => run.call('settle', 'out');
  expect((await plan()).stdout).not.toContain('workers may have bought');
  expect((await settle()).stdout).toMatch(/^out: no row is in doubt, there is nothing to settle$/m);
  writeFileSync(path, note.replace('"isOpen":false', '"isOpen":true'));
  const { code, stdout } = await plan();
  const held = await settle();
  writeFileSync(path, note);
  expect(held.stdout).toMatch(
    /^out: no row is in doubt yet\nnote: workers may have left rows in doubt .*in the database so far \(postgres/,
  );
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^note: workers may have bought more rows.*in the database so far \(postgres/m),
  ]);
  expect(stdout).not.toContain(new URL(run.url).password);
});

it('says how many records of workers the folder lacks, which its own numbers do not count', async () => {
  const path = join(run.folder.out, 'distributed.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(run.folder.text('distributed.json')), collected: 1 }));
  const { stdout } = await run.call('status', 'out', '--db', run.url);
  expect(stdout).toMatch(/: 0 wait, 0 in flight, 3 records still to be copied$/m);
});
