import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace, startMillrace } from '../../../support/millrace.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('the folder of millrace run', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('rows.jsonl', echoJobs(2));
  });
  afterEach(() => work.close());

  const contents = async (name: string) => Object.fromEntries(await work.everything(name));
  const others = (count: number) => echoJobs(count).map((line) => line.replace('"id":"j', '"id":"other'));

  it.each([
    ['results.csv', 'a,b\n1,2\n'],
    ['notes.txt', 'mine'],
    ['journal.jsonl', '{"entry": "a diary of somebody'],
  ])(
    'is not one that holds the %s of somebody else: nothing is written, nothing is sent',
    async (name, text) => {
      await mkdir(join(work.folder, 'theirs'));
      await writeFile(join(work.folder, 'theirs', name), text);
      const before = await contents('theirs');
      const { code, stderr } = await work.call('run', 'rows.jsonl', '--out', 'theirs');
      expect({ code, bill: work.emulator.bill() }).toEqual({ code: 2, bill: [] });
      expect(stderr).toContain(`is not the folder of a run, and it holds files: "${name}"`);
      expect(await contents('theirs')).toEqual(before);
    },
  );

  it('is begun also by a user without a name and a home, as in a container', async () => {
    const noHome = `const os = require('node:os');
      delete process.env.HOME;
      os.homedir = () => process.env.HOME ?? (() => { throw new Error('uv_os_homedir returned ENOENT'); })();
      require('node:module').syncBuiltinESMExports();`;
    await work.write('no-home.cjs', [noHome]);
    const env = {
      ...work.env,
      XDG_STATE_HOME: '',
      TMPDIR: work.folder,
      NODE_OPTIONS: `--require ${work.folder}/no-home.cjs`,
    };
    const run = startMillrace(['run', 'rows.jsonl'], { cwd: work.folder, env });
    expect(await run.ended).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('fault of millrace'),
    });
    expect(work.emulator.bill()).toHaveLength(2);
    const state = join(work.folder, `millrace-${process.getuid?.() ?? 'user'}`);
    expect(await readdir(join(state, '.local/state/millrace'))).toContain('runs');
  });

  it('may be empty, and hold what systems leave and what a worker has put there', async () => {
    await mkdir(join(work.folder, 'o', 'database'), { recursive: true });
    for (const name of ['.DS_Store', '.lock', '.database.lock', 'database.json'])
      await writeFile(join(work.folder, 'o', name), '');
    expect((await work.call('run', 'rows.jsonl', '--out', 'o')).code).toBe(0);
  });

  it('goes on where a power cut has torn the first record: what did not reach the disk reads as NULs [fault 20]', async () => {
    await mkdir(join(work.folder, 'o'));
    await writeFile(join(work.folder, 'o', 'journal.jsonl'), `{"n${'\0'.repeat(60)}`);
    await writeFile(join(work.folder, 'o', 'costs.csv'), '');
    await writeFile(join(work.folder, 'o', 'failures.csv'), 'id,kind\n');
    expect((await work.call('run', 'rows.jsonl', '--out', 'o')).code).toBe(0);
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it('is one run: a manifest of another path that shares no id is refused, and --add is remembered', async () => {
    expect((await work.call('run', 'rows.jsonl', '--out', 'o')).code).toBe(0);
    await work.write('others.jsonl', others(3));
    const before = await contents('o');
    const refused = await work.call('run', 'others.jsonl', '--out', 'o');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/holds a run of .*rows\.jsonl, and .*others\.jsonl shares no id with it/);
    expect(refused.stderr).toContain('None of its rows was added to the run and nothing was sent');
    expect(refused.stderr).toContain('--add');
    expect(await contents('o')).toEqual(before);
    expect(work.emulator.bill()).toHaveLength(2);
    expect((await work.call('run', 'others.jsonl', '--out', 'o', '--add', '--limit', '1')).code).toBe(0);
    expect((await work.call('run', 'others.jsonl', '--out', 'o')).code).toBe(0);
    expect((await work.call('run', 'rows.jsonl', '--out', 'o')).code).toBe(0);
    expect(work.emulator.bill()).toHaveLength(5);
  });

  it('is one service: plan refuses another host, and a rehearsal, as run does', async () => {
    expect((await work.call('run', 'rows.jsonl', '--out', 'o', '--limit', '1')).code).toBe(0);
    const before = await contents('o');
    for (const command of ['plan', 'run']) {
      for (const other of [['--base-url', 'http://127.0.0.1:9'], ['--local']]) {
        const { code, stderr } = await work.call(command, 'rows.jsonl', '--out', 'o', ...other);
        expect({ code, command, other }).toEqual({ code: 2, command, other });
        expect(stderr).toContain('/o holds a run against');
      }
    }
    expect((await work.call('plan', 'rows.jsonl', '--out', 'o')).code).toBe(0);
    const noHost = await millrace(['plan', 'rows.jsonl', '--out', 'o', '--endpoint', 'echo'], {
      cwd: work.folder,
    });
    expect(noHost.code).toBe(0);
    expect(await contents('o')).toEqual(before);
    expect(work.emulator.bill()).toHaveLength(1);
  });

  it('goes on where the manifest moved, changed all of its ids, or is followed', async () => {
    expect((await work.call('run', 'rows.jsonl', '--out', 'o')).code).toBe(0);
    await work.write('moved.jsonl', [...others(2), ...echoJobs(1)]);
    expect((await work.call('run', 'moved.jsonl', '--out', 'o')).code).toBe(0);
    await work.write(
      'rows.jsonl',
      echoJobs(1).map((line) => line.replace('"id":"j', '"id":"new')),
    );
    expect((await work.call('run', 'rows.jsonl', '--out', 'o')).code).toBe(0);
    const input = `${JSON.stringify({ id: 'followed', endpoint: 'echo', input: {} })}\n`;
    const options = { cwd: work.folder, env: work.env, input };
    expect((await millrace(['run', '-', '--follow', '--out', 'o'], options)).code).toBe(0);
  });

  it('is not touched by a start from stdin that is refused, and keeps the manifest of one that begins', async () => {
    const pipe = (lines: readonly string[], ...args: string[]) =>
      millrace(['run', '-', '--format', 'jsonl', ...args], {
        cwd: work.folder,
        env: work.env,
        input: `${lines.join('\n')}\n`,
      });
    expect((await pipe(['{"id": 1, "endpoint": "echo"}'], '--out', 'new')).code).toBe(2);
    expect((await readdir(work.folder)).sort()).toEqual(['rows.jsonl']);
    expect((await pipe(echoJobs(2), '--out', 'deep/new')).code).toBe(0);
    const kept = () => readFile(join(work.folder, 'deep/new/manifest.jsonl'), 'utf8');
    const first = await kept();
    expect(first).toBe(`${echoJobs(2).join('\n')}\n`);
    expect((await pipe(['{"id": 1, "endpoint": "echo"}'], '--out', 'deep/new')).code).toBe(2);
    expect(await kept()).toBe(first);
    expect((await pipe(echoJobs(3), '--out', 'deep/new')).code).toBe(0);
    expect(work.emulator.bill()).toHaveLength(3);
    expect((await readdir(work.folder)).sort()).toEqual(['deep', 'rows.jsonl']);
    expect(await readdir(join(work.folder, 'deep'))).toEqual(['new']);
  });
});
