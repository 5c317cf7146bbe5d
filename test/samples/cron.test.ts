import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../runners/emulator/index.js';
import { mainFile } from '../support/millrace.js';
import { openWorkplace, type Workplace } from '../support/workplace.js';

const nightly = resolve('samples/cron/nightly.sh');
const key = 'canary-cron-1b2c';

/** A folder with a `mail` that keeps what it is given. */
async function openNight(): Promise<{
  work: Workplace;
  run(args: readonly string[], env: Record<string, string>): Promise<{ code: unknown; printed: string }>;
  mails(): Promise<string[]>;
}> {
  const work = await openWorkplace();
  const box = join(work.folder, 'mails');
  await script(join(work.folder, 'bin/mail'), `{ echo "TO $3: $2"; cat; echo ----; } >> "${box}"`);
  return {
    work,
    async run(args, env) {
      const PATH = `${join(work.folder, 'bin')}:${process.env['PATH']}`;
      const child = spawn(nightly, [...args], {
        cwd: work.folder,
        env: { HOME: work.folder, MILLRACE_MAIL_TO: 'ann', MILLRACE_PAUSE: '0', ...env, PATH },
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (printed += text.toString()));
      const [code] = await once(child, 'close');
      return { code, printed };
    },
    mails: async () => (await readFile(box, 'utf8').catch(() => '')).split('----\n').filter(Boolean),
  };
}

async function script(path: string, text: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
}

describe('four nights', () => {
  let night: Awaited<ReturnType<typeof openNight>>;
  let emulator: Emulator;
  beforeEach(async () => {
    night = await openNight();
    await mkdir(join(night.work.folder, 'pictures'));
    emulator = await startEmulator({ key, files: join(night.work.folder, 'pictures') });
  });
  afterEach(async () => {
    await emulator.close();
    await night.work.remove();
  });

  const put = (name: string) =>
    copyFile(resolve('samples/pictures/poster.png'), join(night.work.folder, 'pictures', name));
  const line = (id: string) => `${id},${emulator.baseUrl}/files/${id}.png,black and white,jpeg`;

  it('does all, then nothing, then three new rows of which one fails, then that one', async () => {
    const { work } = night;
    const manifest = join(work.folder, 'edits.csv');
    const env = {
      MILLRACE: `${process.execPath} ${mainFile}`,
      MILLRACE_API_KEY: key,
      MILLRACE_BASE_URL: emulator.baseUrl,
    };
    const run = (...more: string[]) =>
      night.run([manifest, '--endpoint', 'image-edit', '--max-cost-per-day', '20', ...more], env);
    const bought = () => emulator.bill().map(({ executions }) => executions);
    const silent = { code: 0, printed: '' };

    for (const id of ['a', 'b', 'c', 'd']) await put(`${id}.png`);
    await work.write('edits.csv', ['id,images,prompt,output_format', ...['a', 'b', 'c', 'd'].map(line)]);
    expect(await run()).toEqual(silent);
    expect(bought()).toEqual([1, 1, 1, 1]);

    expect(await run()).toEqual(silent);
    expect(bought()).toHaveLength(4);
    expect(await night.mails()).toEqual([]);

    for (const id of ['e', 'f']) await put(`${id}.png`);
    await appendFile(manifest, `${['e', 'f', 'late'].map(line).join('\n')}\n`);
    expect(await run()).toEqual({ code: 1, printed: '' });
    const mails = await night.mails();
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(
      /^TO ann: millrace: some rows failed\n1 of 3 rows failed: .*late.*exit code 1\n$/s,
    );
    expect(await work.lines('edits.out/failures.jsonl')).toMatchObject([
      { id: 'late', error: { paid: 'no' } },
    ]);

    await put('late.png');
    expect(await run()).toEqual(silent);
    expect(await run('--retry', 'failed')).toEqual(silent);
    expect(await night.mails()).toHaveLength(1);
    expect(await work.lines('edits.out/failures.jsonl')).toEqual([]);
    const done = (await work.lines('edits.out/results.jsonl')).map(({ id }) => id);
    expect(done.sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'late']);
    const paid = emulator.bill().filter(({ costMicroDollars }) => costMicroDollars > 0);
    expect(paid.map(({ executions }) => executions)).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect(await work.json('edits.out/summary.json')).toMatchObject({
      starts: 5,
      cost: { reported: 0.6125 },
    });
  });
});

describe('four nights, with a row that is held in the second', () => {
  let night: Awaited<ReturnType<typeof openNight>>;
  let emulator: Emulator;
  let losesReplies = false;
  beforeEach(async () => {
    night = await openNight();
    emulator = await startEmulator({
      key,
      faultOf: ({ operation }) => (operation === 'run' && losesReplies ? 'reset-after' : ''),
    });
  });
  afterEach(async () => {
    await emulator.close();
    await night.work.remove();
  });

  it('mails every night what a person can paste, until one has decided', async () => {
    const { work } = night;
    const manifest = join(work.folder, 'jobs.jsonl');
    const row = (id: string) => `${JSON.stringify({ id, endpoint: 'echo', input: { id } })}\n`;
    const millrace = `${process.execPath} ${mainFile}`;
    const env = { MILLRACE: millrace, MILLRACE_API_KEY: key, MILLRACE_BASE_URL: emulator.baseUrl };
    const run = () => night.run([manifest, '--yes'], env);

    await work.write('jobs.jsonl', [row('a').trim()]);
    expect(await run()).toEqual({ code: 0, printed: '' });

    losesReplies = true;
    await appendFile(manifest, row('b'));
    expect(await run()).toEqual({ code: 6, printed: '' });
    losesReplies = false;

    await appendFile(manifest, row('c'));
    expect(await run()).toEqual({ code: 6, printed: '' });
    expect(await run()).toEqual({ code: 6, printed: '' });
    const mails = await night.mails();
    const command = `millrace settle ${join(work.folder, 'jobs.out')}`;
    expect(mails).toHaveLength(3);
    for (const mail of mails) {
      expect(mail).toContain(
        'TO ann: millrace: rows are in doubt: they may have been charged, a person must decide',
      );
      expect(mail).toContain(`\n      ${command}\n`);
    }
    expect(emulator.bill()).toHaveLength(3);

    const settle = spawn('sh', ['-c', `${command.replace('millrace', millrace)} b --not-sent`], {
      stdio: 'ignore',
    });
    expect(await once(settle, 'close')).toEqual([0, null]);
    expect(await run()).toEqual({ code: 0, printed: '' });
    expect(await night.mails()).toHaveLength(3);
  });
});

describe('a night on which another process has the run', () => {
  let night: Awaited<ReturnType<typeof openNight>>;
  let emulator: Emulator;
  beforeEach(async () => {
    night = await openNight();
    emulator = await startEmulator({ key });
  });
  afterEach(async () => {
    await emulator.close();
    await night.work.remove();
  });

  it('is silent while last night goes on, and mails if only a person can see whether it does', async () => {
    const { work } = night;
    const row = { id: 'slow', endpoint: 'echo', input: { sleepMs: 3_000 } };
    await work.write('jobs.jsonl', [JSON.stringify(row)]);
    const env = {
      MILLRACE: `${process.execPath} ${mainFile}`,
      MILLRACE_API_KEY: key,
      MILLRACE_BASE_URL: emulator.baseUrl,
    };
    const run = () => night.run([join(work.folder, 'jobs.jsonl'), '--yes'], env);
    const lastNight = run();
    await expect.poll(() => emulator.bill().length, { timeout: 20_000 }).toBe(1);
    const owner = join(work.folder, 'jobs.out/.owner.json');
    const { host, ...rest } = JSON.parse(await readFile(owner, 'utf8')) as { host: object };
    const silent = { code: 0, printed: '' };
    expect(await run()).toEqual(silent);
    expect(await lastNight).toEqual(silent);
    expect(await night.mails()).toEqual([]);

    await writeFile(
      owner,
      `${JSON.stringify({ ...rest, host: { ...host, name: 'a-container-that-is-gone' } })}\n`,
    );
    expect(await run()).toEqual({ code: 75, printed: '' });
    const [mail = '', ...others] = await night.mails();
    expect(others).toEqual([]);
    expect(mail).toContain(`remove ${owner} and start again`);
    expect(emulator.bill()).toHaveLength(1);
  });
});

describe('nightly.sh', () => {
  let night: Awaited<ReturnType<typeof openNight>>;
  beforeEach(async () => void (night = await openNight()));
  afterEach(() => night.work.remove());

  /** A stand-in that says what it was called with, and ends as it is told. */
  const standIn = async (exitCode: number, printed = '') => {
    const path = join(night.work.folder, 'bin/stand-in');
    await script(
      path,
      `echo "$*" >> "${join(night.work.folder, 'calls')}"\nprintf '%s' "${printed}" >&2\nexit ${exitCode}`,
    );
    return { MILLRACE: path };
  };
  const calls = async () => (await readFile(join(night.work.folder, 'calls'), 'utf8')).trim().split('\n');

  it.each([0, 129, 130, 143])('is silent at %i', async (exitCode) => {
    const env = await standIn(exitCode);
    expect(await night.run(['edits.csv', '--limit', '5'], env)).toEqual({ code: 0, printed: '' });
    expect(await night.mails()).toEqual([]);
    expect(await calls()).toEqual(['run edits.csv --quiet --limit 5']);
  });

  it.each([1, 2, 3, 4, 5, 6, 70, 74, 75])('mails at %i, and ends so', async (exitCode) => {
    const env = await standIn(exitCode, 'the reason');
    expect(await night.run(['edits.csv'], env)).toEqual({ code: exitCode, printed: '' });
    const mails = await night.mails();
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(
      new RegExp(`^TO ann: millrace: .+\nthe reason\n\n.*edits\\.csv, exit code ${exitCode}\n$`),
    );
    expect(await calls()).toHaveLength(1);
  });

  it('tries again at 69, then mails once', async () => {
    const env = await standIn(69, 'nothing gets through');
    expect(await night.run(['edits.csv'], { ...env, MILLRACE_TRIES: '3' })).toEqual({
      code: 69,
      printed: '',
    });
    expect(await calls()).toHaveLength(3);
    expect(await night.mails()).toHaveLength(1);
  });

  it('outlives a millrace that was stopped with it, so that systemd kills nothing that awaits a paid reply', async () => {
    const { work } = night;
    const path = join(work.folder, 'bin/stand-in');
    const [begun, ended] = [join(work.folder, 'begun'), join(work.folder, 'ended')];
    const awaitsReply = `trap 'sleep 0.3; touch "${ended}"; exit 143' TERM`;
    await script(path, `${awaitsReply}\ntouch "${begun}"\nwhile :; do sleep 0.05; done`);
    expect(await stopWhen(begun, { MILLRACE: path })).toEqual([0, null]);
    expect(await readFile(ended, 'utf8')).toBe('');
    expect(await night.mails()).toEqual([]);
    expect(await readFile('samples/cron/millrace-nightly.service', 'utf8')).toContain(
      'KillMode=control-group',
    );
  });

  it('does not try again when it is stopped between two tries', async () => {
    const env = await standIn(69, 'nothing gets through');
    const asleep = join(night.work.folder, 'asleep');
    await script(join(night.work.folder, 'bin/sleep'), `touch "${asleep}"\nexec /bin/sleep "$1"`);
    expect(await stopWhen(asleep, env)).toEqual([0, null]);
    expect(await calls()).toHaveLength(1);
    expect(await night.mails()).toEqual([]);
  });

  /** Runs nightly.sh and, once a file is there, sends SIGTERM to all of its processes, as systemd does. */
  async function stopWhen(path: string, env: Record<string, string>): Promise<unknown[]> {
    const { folder } = night.work;
    const PATH = `${join(folder, 'bin')}:${process.env['PATH']}`;
    const child = spawn(nightly, ['edits.csv'], {
      cwd: folder,
      detached: true,
      stdio: 'ignore',
      env: { HOME: folder, MILLRACE_PAUSE: '60', ...env, PATH },
    });
    const closed = once(child, 'close');
    await expect.poll(() => existsSync(path), { timeout: 10_000 }).toBe(true);
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    return closed;
  }

  it('mails a remark of a run that went well', async () => {
    const env = await standIn(0, 'warning: a price');
    expect(await night.run(['edits.csv'], env)).toEqual({ code: 0, printed: '' });
    expect(await night.mails()).toMatchObject([expect.stringContaining('warning: a price')]);
  });
});
