import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drawPicture } from '../../../support/draw-picture.js';
import { millrace } from '../../../support/millrace.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace run', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
  });
  afterEach(() => work.close());

  it('does jobs and routes, and says what happened and where the files are', async () => {
    await work.write('rows.jsonl', [
      ...echoJobs(3),
      JSON.stringify({ id: 'r', route: 'info', method: 'GET' }),
    ]);
    const { code, stdout, stderr } = await work.call('run', 'rows.jsonl');
    expect(code).toBe(0);
    expect(stdout).toContain('  completed    4 of 4 rows');
    expect(stdout).toMatch(/files +rows\.out: results\.jsonl.*summary\.json.*report\.html/);
    expect(stderr).toContain('rows.jsonl: 4 rows\n  kinds        job 3, route 1\n');
    expect(await work.lines('rows.out/results.jsonl')).toHaveLength(4);
    expect(work.emulator.bill().filter(({ operation }) => operation === 'run')).toHaveLength(3);
  });

  it('prints each warning of the manifest once, and has it in its JSON', async () => {
    const rows = echoJobs(2).map((row) =>
      JSON.stringify({ ...(JSON.parse(row) as object), resolution: '4k' }),
    );
    await work.write('rows.jsonl', rows);
    const warning = 'column "resolution" is filled on rows of kind job';
    const plain = await work.call('run', 'rows.jsonl');
    expect(plain.stderr.split(warning)).toHaveLength(2);
    const quiet = await work.call('run', 'rows.jsonl', '--out', 'quiet', '--quiet');
    expect(quiet.stderr.split(warning)).toHaveLength(2);
    const json = await work.call('run', 'rows.jsonl', '--out', 'json', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      warnings: [{ code: 'manifest', message: expect.stringContaining(warning) }],
    });
  });

  it('has nothing to do the second time', async () => {
    await work.write('rows.jsonl', echoJobs(2));
    await work.call('run', 'rows.jsonl');
    const { code, stderr } = await work.call('run', 'rows.jsonl');
    expect(code).toBe(0);
    expect(stderr).toContain('  this start   0 rows to send, 2 ended before\n');
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it('names failures by cause, with what to do', async () => {
    await work.write('rows.jsonl', [
      ...echoJobs(2),
      JSON.stringify({ id: 'bad1', endpoint: 'echo', input: { fail: 'no \u001b[31mcolour 12' } }),
      JSON.stringify({ id: 'bad2', endpoint: 'echo', input: { fail: 'no \u001b[31mcolour 13' } }),
    ]);
    const { stdout } = await work.call('run', 'rows.jsonl');
    expect(stdout).toContain('  failed       2   job-failed 2');
    expect(stdout).toMatch(
      / {2}2 jobs failed \(job-failed\): .*no colour …\n {4}ids bad[12], bad[12]; .*\n.*Not charged.*\n {6}millrace run rows\.jsonl --out rows\.out .*--retry job-failed\n/,
    );
    expect(stdout).not.toContain('\u001b');
  });

  it('prints the summary and nothing else on stdout with --json', async () => {
    await work.write('rows.jsonl', echoJobs(2));
    const { code, stdout } = await work.call('run', 'rows.jsonl', '--json');
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ rows: { total: 2, completed: 2, failed: 0, toDo: 0 } });
    const { warnings, ...summary } = JSON.parse(stdout) as { warnings: unknown };
    expect(warnings).toEqual([]);
    expect(summary).toEqual(await work.json('rows.out/summary.json'));
  });

  it('says nothing at all with --quiet when nobody is needed, and the causes when somebody is', async () => {
    await work.write('rows.jsonl', echoJobs(2));
    expect(await work.call('run', 'rows.jsonl', '--quiet')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    await work.write('bad.jsonl', echoJobs(1, { fail: 'it is broken' }));
    const { code, stdout, stderr } = await work.call('run', 'bad.jsonl', '--quiet');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('it is broken');
  });

  it('does a part, and the rest later', async () => {
    await work.write('rows.jsonl', echoJobs(5));
    expect((await work.call('run', 'rows.jsonl', '--only', 'j3')).stdout).toContain('  to go        4\n');
    expect((await work.call('run', 'rows.jsonl', '--limit', '2')).stdout).toContain('  to go        2\n');
    expect((await work.call('run', 'rows.jsonl')).code).toBe(0);
    expect(work.emulator.bill().map(({ input }) => (input as { n: number }).n)).toHaveLength(5);
  });

  it('takes the key from a file, and warns when others can read it', async () => {
    await work.write('rows.jsonl', echoJobs(1));
    await writeFile(join(work.folder, 'key'), `${work.emulator.apiKey}\n`, { mode: 0o644 });
    const env = { MILLRACE_BASE_URL: work.emulator.baseUrl };
    const args = ['run', 'rows.jsonl', '--api-key-file', 'key'];
    const { code, stderr } = await millrace(args, { cwd: work.folder, env });
    expect(code).toBe(0);
    expect(stderr).toContain('the key file "key" can be read by others');
  });

  it.each(['got', 'undici'])('runs over %s', async (http) => {
    await work.write('rows.jsonl', echoJobs(3));
    const args = ['run', 'rows.jsonl', '--http', http, '--out', http];
    const { code, stderr } = await millrace(args, { cwd: work.folder, env: work.env });
    expect(code, stderr).toBe(0);
    expect(await work.lines(`${http}/results.jsonl`)).toHaveLength(3);
  });

  it('keeps a manifest from stdin in its folder', async () => {
    const input = `${echoJobs(2).join('\n')}\n`;
    const args = ['run', '-', '--format', 'jsonl', '--out', 'o'];
    expect((await millrace(args, { cwd: work.folder, env: work.env, input })).code).toBe(0);
    expect(await work.lines('o/manifest.jsonl')).toHaveLength(2);
    expect(await work.lines('o/results.jsonl')).toHaveLength(2);
  });

  it('rehearses with pictures beside the manifest, and needs neither service nor key', async () => {
    await writeFile(join(work.folder, 'mug.png'), await drawPicture({ subject: 0, width: 64, height: 64 }));
    await work.write('edits.csv', ['id,images,prompt', 'a,mug.png,grayscale']);
    const args = ['run', 'edits.csv', '--local', '--endpoint', 'image-edit'];
    const { code, stderr } = await millrace(args, { cwd: work.folder });
    expect(stderr).toContain('price        rehearsal, nothing spent; a real run: $');
    expect(code).toBe(0);
    expect(await readdir(join(work.folder, 'edits.local.out', 'images'))).toEqual(['a.png']);
  });

  it('rehearses with functions and faults of its own', async () => {
    const functions = 'export const queue = { double: ({ n }) => ({ twice: 2 * n }) };';
    await work.write('functions.mjs', [functions]);
    await work.write('rows.jsonl', [JSON.stringify({ id: 'a', endpoint: 'double', input: { n: 21 } })]);
    const local = [
      '--local',
      '--functions',
      'functions.mjs',
      '--latency',
      'uniform:1-5',
      '--faults',
      'cut@status=0.2',
      '--seed',
      '7',
    ];
    expect((await millrace(['run', 'rows.jsonl', ...local], { cwd: work.folder })).code).toBe(0);
    expect(await work.lines('rows.local.out/results.jsonl')).toMatchObject([{ output: { twice: 42 } }]);
  });
});
