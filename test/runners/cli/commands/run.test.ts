import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../../../runners/emulator/index.js';
import { mainFile, millrace, startMillrace } from '../../../support/millrace.js';
import { until } from '../../../support/until.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

const key = 'canary-51d0c0ffee';

describe('millrace run', () => {
  let work: Workplace;
  let emulator: Emulator;
  beforeEach(async () => {
    work = await openWorkplace();
  });
  afterEach(async () => {
    await emulator?.close();
    await work.remove();
  });

  const serve = async (options: EmulatorOptions = {}) =>
    void (emulator = await startEmulator({ key, ...options }));
  const env = () => ({
    MILLRACE_API_KEY: key,
    MILLRACE_BASE_URL: emulator.baseUrl,
    MILLRACE_LB_BASE_URL: emulator.lbBaseUrl,
  });
  const run = (...args: string[]) => millrace(['run', ...args], { cwd: work.folder, env: env() });
  const jobs = (count: number, input: object = {}) =>
    Array.from({ length: count }, (_, n) =>
      JSON.stringify({ id: `j${n}`, endpoint: 'echo', input: { n, ...input } }),
    );

  it('does jobs and routes, says what happened, and exits 0', async () => {
    await serve();
    await work.write('rows.jsonl', [...jobs(3), JSON.stringify({ id: 'r', route: 'info', method: 'GET' })]);
    const { code, stdout, stderr } = await run('rows.jsonl');
    expect(code).toBe(0);
    expect(stdout).toContain('  completed    4 of 4 rows');
    expect(stdout).toMatch(/files +rows\.out: results\.jsonl.*summary\.json/);
    expect(stderr).toContain('rows.jsonl: 4 rows\n  kinds        job 3, route 1\n');
    expect(await work.lines('rows.out/results.jsonl')).toHaveLength(4);
    expect(emulator.bill().filter(({ operation }) => operation === 'run')).toHaveLength(3);
  });

  it('has nothing to do the second time, and says so', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(2));
    await run('rows.jsonl');
    const { code } = await run('rows.jsonl');
    expect(code).toBe(0);
    expect(emulator.bill()).toHaveLength(2);
  });

  it('names failures by cause with what to do, and exits 1', async () => {
    await serve();
    await work.write('rows.jsonl', [
      ...jobs(2),
      JSON.stringify({ id: 'bad1', endpoint: 'echo', input: { fail: 'no \u001b[31mcolour 12' } }),
      JSON.stringify({ id: 'bad2', endpoint: 'echo', input: { fail: 'no \u001b[31mcolour 13' } }),
    ]);
    const { code, stdout } = await run('rows.jsonl');
    expect(code).toBe(1);
    expect(stdout).toContain('  failed       2   job-failed 2');
    expect(stdout).toMatch(/ {2}2 rows job-failed: .*no colour 1[23]/);
    expect(stdout).toContain('--retry failed');
    expect(stdout).not.toContain('\u001b');
  });

  it('prints the summary and nothing else on stdout with --json', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(2));
    const { code, stdout } = await run('rows.jsonl', '--json');
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ rows: { total: 2, completed: 2, failed: 0, toDo: 0 } });
    expect(JSON.parse(stdout)).toEqual(await work.json('rows.out/summary.json'));
  });

  it('says nothing at all with --quiet when nobody is needed, and the causes when somebody is', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(2));
    expect(await run('rows.jsonl', '--quiet')).toMatchObject({ code: 0, stdout: '', stderr: '' });
    await work.write('bad.jsonl', jobs(1, { fail: 'it is broken' }));
    const { code, stdout, stderr } = await run('bad.jsonl', '--quiet');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('it is broken');
  });

  it('needs a key, and names the variable', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(1));
    const { code, stderr } = await millrace(['run', 'rows.jsonl'], {
      cwd: work.folder,
      env: { MILLRACE_BASE_URL: emulator.baseUrl },
    });
    expect(code).toBe(2);
    expect(stderr).toContain('MILLRACE_API_KEY');
    expect(await readdir(work.folder)).toEqual(['rows.jsonl']);
  });

  it('needs a service, and the host of routes when there are some', async () => {
    await serve();
    await work.write('rows.jsonl', [JSON.stringify({ route: 'info', method: 'GET' })]);
    const at = (env: Record<string, string>) => millrace(['run', 'rows.jsonl'], { cwd: work.folder, env });
    expect(await at({ MILLRACE_API_KEY: key })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('MILLRACE_BASE_URL'),
    });
    expect(await at({ MILLRACE_API_KEY: key, MILLRACE_BASE_URL: emulator.baseUrl })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('MILLRACE_LB_BASE_URL'),
    });
  });

  it('takes the key from a file', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(1));
    await writeFile(join(work.folder, 'key'), `${key}\n`, { mode: 0o644 });
    const { MILLRACE_API_KEY: _, ...hosts } = env();
    const { code, stderr } = await millrace(['run', 'rows.jsonl', '--api-key-file', 'key'], {
      cwd: work.folder,
      env: hosts,
    });
    expect(code).toBe(0);
    expect(stderr).toContain('the key file "key" can be read by others');
  });

  it('sends nothing of a manifest with an invalid row', async () => {
    await serve();
    await work.write('rows.jsonl', [...jobs(2), JSON.stringify({ id: 'x', endpoint: 'echo', input: 7 })]);
    const { code, stderr } = await run('rows.jsonl');
    expect(code).toBe(2);
    expect(stderr).toMatch(/rows\.jsonl, line 3 \(row 3, id "x"\), column input/);
    expect(stderr).toContain('nothing was sent');
    expect(emulator.bill()).toEqual([]);
  });

  it('stops at a refused key with 4, and sends nothing more', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(50));
    const { code, stdout } = await millrace(['run', 'rows.jsonl', '--concurrency', '2'], {
      cwd: work.folder,
      env: { ...env(), MILLRACE_API_KEY: 'another-key' },
    });
    expect(code).toBe(4);
    expect(stdout).toContain('to be done   50');
    expect(emulator.bill()).toEqual([]);
  });

  it('stops at the cap with 3, and at --halt with 5', async () => {
    await serve();
    await work.write('edits.csv', [
      'id,images,prompt',
      ...Array.from({ length: 4 }, (_, n) => `e${n},http://127.0.0.1:1/x.png,p`),
    ]);
    const capped = await run('edits.csv', '--endpoint', 'image-edit', '--max-cost', '0.05');
    expect(capped.code).toBe(3);
    expect(capped.stdout).toContain('cap');
    await work.write('rows.jsonl', jobs(30, { fail: 'x' }));
    expect((await run('rows.jsonl', '--halt', '2', '--concurrency', '1')).code).toBe(5);
  });

  it('holds what may have been accepted and exits 6', async () => {
    await serve({ faults: 'reset-after@run=1' });
    await work.write('rows.jsonl', jobs(1));
    const { code, stdout } = await run('rows.jsonl');
    expect(code).toBe(6);
    expect(stdout).toContain('millrace settle');
  });

  it('exits 69 when nothing gets through', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(3));
    const gone = { ...env(), MILLRACE_BASE_URL: await closedPort() };
    const { code, stdout } = await millrace(['run', 'rows.jsonl', '--retries', '0'], {
      cwd: work.folder,
      env: gone,
    });
    expect(code).toBe(69);
    expect(stdout).toContain('to be done   3');
  });

  it('exits 74 when its folder cannot be made', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(1));
    const { code, stderr } = await run('rows.jsonl', '--out', 'rows.jsonl/out');
    expect(code).toBe(74);
    expect(stderr).toContain('rows.jsonl/out');
    expect(emulator.bill()).toEqual([]);
  });

  it('lets one process have a run: the second exits 75 at once', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(1, { sleepMs: 60_000 }));
    const first = startMillrace(['run', 'rows.jsonl'], { cwd: work.folder, env: env() });
    await until(() => emulator.bill().length === 1);
    const second = await run('rows.jsonl');
    expect(second.code).toBe(75);
    expect(second.stderr).toContain('error: ');
    first.child.kill('SIGTERM');
    expect((await first.ended).code).toBe(143);
  });

  it('refuses to go on with a rehearsal as the real thing', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(1));
    expect((await millrace(['run', 'rows.jsonl', '--local', '--out', 'o'], { cwd: work.folder })).code).toBe(
      0,
    );
    const { code, stderr } = await run('rows.jsonl', '--out', 'o');
    expect(code).toBe(2);
    expect(stderr).toContain('error: ');
    expect(emulator.bill()).toEqual([]);
  });

  it('stops in good order at SIGINT, and goes on with nothing sent twice', async () => {
    await serve({ workers: 4 });
    await work.write('rows.jsonl', jobs(40, { sleepMs: 100 }));
    const first = startMillrace(['run', 'rows.jsonl', '--concurrency', '4'], {
      cwd: work.folder,
      env: env(),
    });
    await until(() => emulator.bill().filter(({ status }) => status === 'COMPLETED').length >= 6);
    first.child.kill('SIGINT');
    const { code, signal, stdout } = await first.ended;
    expect({ code, signal }).toEqual({ code: 130, signal: null });
    expect(stdout).toContain('to be done');
    expect(emulator.bill().length).toBeLessThan(40);
    expect((await run('rows.jsonl', '--concurrency', '40')).code).toBe(0);
    const bill = emulator.bill();
    expect(bill).toHaveLength(40);
    expect(new Set(bill.map(({ input }) => (input as { n: number }).n)).size).toBe(40);
    expect(await work.lines('rows.out/results.jsonl')).toHaveLength(40);
  });

  it('stops at once at a second signal, with a reply still on its way', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(1, { sleepMs: 60_000 }));
    const first = startMillrace(['run', 'rows.jsonl', '--mode', 'sync'], { cwd: work.folder, env: env() });
    await until(() => emulator.bill().length === 1);
    first.child.kill('SIGINT');
    await first.says('stopping');
    first.child.kill('SIGINT');
    expect(await first.ended).toMatchObject({ code: 130, signal: null });
  });

  it('does not stop when the reader of its output goes away', async () => {
    await serve();
    await work.write('rows.jsonl', jobs(20, { sleepMs: 20 }));
    const command = `"$NODE" "$MAIN" run rows.jsonl --concurrency 2 2>&1 | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"`;
    const shell = spawn('bash', ['-c', command], {
      cwd: work.folder,
      env: { PATH: process.env['PATH'], NODE: process.execPath, MAIN: mainFile, ...env() },
    });
    let said = '';
    shell.stdout.on('data', (piece) => (said += String(piece)));
    await new Promise((resolve) => shell.on('close', resolve));
    expect(said.trim()).toBe('0');
    expect(await work.lines('rows.out/results.jsonl')).toHaveLength(20);
  });

  it('keeps a manifest from stdin in its folder', async () => {
    await serve();
    const { code } = await millrace(['run', '-', '--format', 'jsonl', '--out', 'o'], {
      cwd: work.folder,
      env: env(),
      input: `${jobs(2).join('\n')}\n`,
    });
    expect(code).toBe(0);
    expect(await work.lines('o/manifest.jsonl')).toHaveLength(2);
    expect(await work.lines('o/results.jsonl')).toHaveLength(2);
  });

  it('refuses a run above $100 that nobody agreed to, before anything is sent', async () => {
    await serve();
    await work.write('edits.csv', [
      'images,prompt,resolution',
      ...Array.from({ length: 600 }, (_, n) => `http://127.0.0.1:1/${n}.png,p,4k`),
    ]);
    const { code, stderr } = await run('edits.csv', '--endpoint', 'image-edit');
    expect(code).toBe(2);
    expect(stderr).toContain('priced at $105.00, above $100.00');
    expect(stderr).toContain('--yes');
    expect(emulator.bill()).toEqual([]);
  });

  it('says the price before the first request', async () => {
    await serve();
    await work.write('edits.csv', ['images,prompt', 'http://127.0.0.1:1/x.png,p']);
    const { stderr } = await run('edits.csv', '--endpoint', 'image-edit');
    expect(stderr).toContain('may cost     $0.0875');
  });

  it('shows the key nowhere: not in a file, not in what it prints, not in the list of processes', async () => {
    await serve({ faults: `fail=0.3:key ${key} and Bearer ${key},malformed@status=0.2` });
    await work.write('rows.jsonl', jobs(30, { sleepMs: 20, echo: `Bearer ${key.slice(0, 6)}` }));
    const process = startMillrace(['run', 'rows.jsonl'], { cwd: work.folder, env: env() });
    await until(() => emulator.bill().length > 5);
    const commandLine = await readFile(`/proc/${process.child.pid}/cmdline`, 'utf8');
    const { stdout, stderr } = await process.ended;
    expect(commandLine).toContain('rows.jsonl');
    for (const text of [commandLine, stdout, stderr]) expect(text).not.toContain(key);
    for (const [file, text] of await work.everything('rows.out'))
      expect([file, text.includes(key)]).toEqual([file, false]);
  });

  it('rehearses with pictures beside the manifest', async () => {
    await serve();
    const picture = await (
      await import('sharp')
    )
      .default({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    await writeFile(join(work.folder, 'red.png'), picture);
    await work.write('edits.csv', ['id,images,prompt', 'a,red.png,grayscale']);
    const { code, stderr } = await millrace(['run', 'edits.csv', '--local', '--endpoint', 'image-edit'], {
      cwd: work.folder,
    });
    expect(stderr).toContain('is a rehearsal: nothing is spent');
    expect(code).toBe(0);
    expect(await readdir(join(work.folder, 'edits.local.out', 'images'))).toEqual(['a.png']);
  });
});

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
