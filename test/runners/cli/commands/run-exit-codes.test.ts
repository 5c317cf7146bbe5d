import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { EmulatorOptions } from '../../../../runners/emulator/index.js';
import { millrace } from '../../../support/millrace.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

const image = 'http://127.0.0.1:1/x.png';
/** Each costs $0.175. */
const edits = (count: number) => [
  'images,prompt,resolution',
  ...Array.from({ length: count }, (_, n) => `${image}?${n},p,4k`),
];

describe('the exit codes of millrace run', () => {
  let work: Rehearsal;
  afterEach(() => work.close());
  const open = async (options: EmulatorOptions = {}) => void (work = await openRehearsal(options));

  it('0: every row completed', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(1));
    expect((await work.call('run', 'rows.jsonl')).code).toBe(0);
  });

  it('1: some rows failed', async () => {
    await open();
    await work.write('rows.jsonl', [
      ...echoJobs(1),
      JSON.stringify({ id: 'x', endpoint: 'echo', input: { fail: 'x' } }),
    ]);
    expect((await work.call('run', 'rows.jsonl')).code).toBe(1);
  });

  it('2: no key, and the message names the variable', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(1));
    const env = { MILLRACE_BASE_URL: work.emulator.baseUrl };
    const { code, stderr } = await millrace(['run', 'rows.jsonl'], { cwd: work.folder, env });
    expect(code).toBe(2);
    expect(stderr).toContain('MILLRACE_API_KEY');
    expect(await readdir(work.folder)).toEqual(['rows.jsonl']);
  });

  it('2: a key that was pasted with a sign which no key holds', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(1));
    const env = { MILLRACE_BASE_URL: work.emulator.baseUrl, MILLRACE_API_KEY: 'sk-live-1234…' };
    const { code, stderr } = await millrace(['run', 'rows.jsonl'], { cwd: work.folder, env });
    expect(code).toBe(2);
    expect(stderr).toContain('MILLRACE_API_KEY holds no key');
    expect(stderr).not.toContain('1234');
  });

  it('2: no service, or none for routes', async () => {
    await open();
    await work.write('rows.jsonl', [JSON.stringify({ route: 'info', method: 'GET' })]);
    const key = { MILLRACE_API_KEY: work.emulator.apiKey };
    const at = (env: Record<string, string>) => millrace(['run', 'rows.jsonl'], { cwd: work.folder, env });
    expect(await at(key)).toMatchObject({ code: 2, stderr: expect.stringContaining('MILLRACE_BASE_URL') });
    const onlyJobs = { ...key, MILLRACE_BASE_URL: work.emulator.baseUrl };
    expect(await at(onlyJobs)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('MILLRACE_LB_BASE_URL'),
    });
  });

  it('2: invalid rows, each named, and nothing is sent [fault 26]', async () => {
    await open();
    await work.write('edits.csv', [
      'id,kind,images,prompt,resolution',
      `ok,edit,${image},p,`,
      `kind,edits,${image},p,`,
      'none,edit,,p,',
      `size,edit,${image},p,8k`,
      `many,edit,${Array.from({ length: 15 }, () => image).join('|')},p,`,
      `ok,edit,${image},p,`,
      'ftp,edit,ftp://pictures.example.com/1.png,p,',
    ]);
    const { code, stderr, stdout } = await work.call('run', 'edits.csv', '--endpoint', 'image-edit');
    expect(code).toBe(2);
    for (const line of [3, 4, 5, 6, 7, 8])
      expect(stderr).toMatch(new RegExp(`^edits\\.csv, line ${line} `, 'm'));
    expect(stderr).toContain('error: edits.csv has 6 invalid rows: nothing was sent');
    expect(stdout).toBe('');
    expect(work.emulator.bill()).toEqual([]);
  });

  it('2: an id of --only that no row has', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(1));
    const { code, stderr } = await work.call('run', 'rows.jsonl', '--only', 'j0,nobody');
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'error: --only: no row has the id "nobody"\n' });
  });

  it('2: above $25 where it cannot ask, and nothing is sent', async () => {
    await open();
    await work.write('edits.csv', edits(200));
    const { code, stderr } = await work.call('run', 'edits.csv', '--endpoint', 'image-edit');
    expect(code).toBe(2);
    expect(stderr).toContain('  may cost     $35.00\n');
    expect(stderr).toContain('error: this start may buy for $35.00. Above $25.00 it asks, and it cannot ask');
    expect(stderr).toContain('--yes');
    expect(stderr).toContain('--max-cost');
    expect(work.emulator.bill()).toEqual([]);
  });

  it.each([['--max-cost'], ['--max-cost-per-day']])(
    '3: %s is an agreement, and rows beyond it are not sent',
    async (cap) => {
      await open();
      await work.write('edits.csv', edits(200));
      const args = ['run', 'edits.csv', '--endpoint', 'image-edit', cap, '0.2', '--ledger', 'day.jsonl'];
      const { code } = await work.call(...args);
      expect({ code, bought: work.emulator.bill().length }).toEqual({ code: 3, bought: 1 });
    },
  );

  it('2: a rehearsal that goes on as the real thing', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(1));
    expect((await work.call('run', 'rows.jsonl', '--local', '--out', 'o')).code).toBe(0);
    const { code, stderr } = await work.call('run', 'rows.jsonl', '--out', 'o');
    expect(code).toBe(2);
    expect(stderr).toContain('rehearsal');
    expect(work.emulator.bill()).toEqual([]);
  });

  it.each([
    ['rows.jsonl', /^error: .*rows\.jsonl is a file, and a run needs a folder/],
    ['rows.jsonl/o', /^error: .*rows\.jsonl\/o lies below a file, and a run needs a folder/],
    ['to-itself', /^error: .*to-itself is a link that leads to itself, and a run needs a folder/],
    ['to-nothing', /^error: .*to-nothing is a link to nothing, and a run needs a folder/],
    ['o'.repeat(300), /^error: .*o is too long a name for this file system, and a run needs a folder/],
  ])('2: a file where the folder should be: %s [fault 18]', async (out, words) => {
    await open();
    await work.write('rows.jsonl', echoJobs(1));
    await symlink('to-itself', join(work.folder, 'to-itself'));
    await symlink('nothing', join(work.folder, 'to-nothing'));
    const { code, stderr } = await work.call('run', 'rows.jsonl', '--out', out);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(words) as string });
    expect(work.emulator.bill()).toEqual([]);
  });

  it('3: the cap is reached', async () => {
    await open();
    await work.write('edits.csv', ['id,images,prompt', `a,${image},p`, `b,${image},p`]);
    const { code, stdout } = await work.call(
      'run',
      'edits.csv',
      '--endpoint',
      'image-edit',
      '--max-cost',
      '0.05',
    );
    expect(code).toBe(3);
    expect(stdout).toContain('cap');
    expect(work.emulator.bill()).toEqual([]);
  });

  it('4: the key is refused, and nothing more is sent [fault 6]', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(50));
    const env = { ...work.env, MILLRACE_API_KEY: 'another-key' };
    const { code, stdout } = await millrace(['run', 'rows.jsonl', '--concurrency', '2'], {
      cwd: work.folder,
      env,
    });
    expect(code).toBe(4);
    expect(stdout).toContain('  to go        50\n');
    expect(stdout).not.toContain('another-key');
    expect(work.emulator.bill()).toEqual([]);
  });

  it.each(['2', '10%'])('5: --halt %s', async (halt) => {
    await open();
    await work.write('rows.jsonl', echoJobs(30, { fail: 'x' }));
    expect((await work.call('run', 'rows.jsonl', '--halt', halt, '--concurrency', '1')).code).toBe(5);
    expect(work.emulator.bill().length).toBeLessThan(10);
  });

  it('6: a row is in doubt', async () => {
    await open({ faults: 'reset-after@run=1' });
    await work.write('rows.jsonl', echoJobs(1));
    const { code, stdout } = await work.call('run', 'rows.jsonl');
    expect(code).toBe(6);
    expect(stdout).toContain('millrace settle');
  });

  it('69: nothing gets through', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(3));
    const env = { ...work.env, MILLRACE_BASE_URL: await closedPort() };
    const { code, stdout } = await millrace(['run', 'rows.jsonl', '--retries', '0'], {
      cwd: work.folder,
      env,
    });
    expect(code).toBe(69);
    expect(stdout).toContain('  to go        3\n');
  });

  it('70: an error that nothing has caught, told without its stack and without the key', async () => {
    await open();
    const { apiKey } = work.emulator;
    const bomb = `setImmediate(() => { throw Object.assign(new Error('boom Bearer ${apiKey}'), { headers: '${apiKey}' }); });`;
    await work.write('functions.mjs', [
      `export const queue = { echo: () => { ${bomb}`,
      'return new Promise(() => {}); } };',
    ]);
    await work.write('rows.jsonl', echoJobs(1));
    const { code, stderr } = await work.start('run', 'rows.jsonl', '--local', '--functions', 'functions.mjs')
      .ended;
    expect(code).toBe(70);
    expect(stderr).toContain('error: this is a fault of millrace itself: Error: boom');
    expect(stderr).not.toContain('    at ');
    expect(stderr).toContain('rows.local.out/run.log');
    const logs = [...(await work.everything('rows.local.out'))].filter(([file]) => file.endsWith('run.log'));
    expect(logs).toEqual([[expect.anything(), expect.stringContaining('functions.mjs')]]);
    expect(stderr + String(logs)).not.toContain(apiKey);
  });

  it('74: the folder cannot be made [fault 18]', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(1));
    const { code, stderr } = await work.call('run', 'rows.jsonl', '--out', '/proc/out');
    expect(code).toBe(74);
    expect(stderr).toContain('/proc/out');
    expect(work.emulator.bill()).toEqual([]);
  });

  it('74: a journal that is broken in the middle, until --repair goes on without it [fault 20]', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(3));
    await work.call('run', 'rows.jsonl', '--limit', '2');
    const records = await work.lines('rows.out/journal.jsonl');
    await work.write('rows.out/journal.jsonl', [
      '{"k":"start"',
      ...records.slice(1).map((record) => JSON.stringify(record)),
    ]);
    expect(await work.call('run', 'rows.jsonl')).toMatchObject({
      code: 74,
      stderr: expect.stringContaining('--repair'),
    });
    expect((await work.call('run', 'rows.jsonl', '--repair')).code).not.toBe(74);
  });

  it('75: another process holds the run [fault 19]', async () => {
    await open();
    await work.write('rows.jsonl', echoJobs(1, { sleepMs: 60_000 }));
    const first = work.start('run', 'rows.jsonl');
    await until(() => work.emulator.bill().length === 1);
    const second = await work.call('run', 'rows.jsonl');
    expect(second.code).toBe(75);
    expect(second.stderr).toContain(`error: `);
    expect(second.stderr).toContain(String(first.child.pid));
    // Who thinks that the lock has been left behind does not buy beside the first one either.
    await rm(join(work.folder, 'rows.out/.lock'));
    expect(await work.call('run', 'rows.jsonl')).toMatchObject({
      code: 75,
      stderr: expect.stringContaining(String(first.child.pid)),
    });
    expect(work.emulator.bill()).toHaveLength(1);
    first.child.kill('SIGTERM');
    await first.ended;
  });
});

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}
