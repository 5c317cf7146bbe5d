import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace } from '../../../support/millrace.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('plan --save and run --plan', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('rows.jsonl', echoJobs(12));
    await work.write('prices.json', ['{"endpoints": {"echo": {"usdPerJob": 0.01}}}']);
  });
  afterEach(() => work.close());

  const save = (...args: string[]) =>
    work.call('plan', 'rows.jsonl', '--prices', 'prices.json', '--save', 'rows.plan', ...args);
  const apply = (...args: string[]) =>
    work.call('run', '--plan', 'rows.plan', '--prices', 'prices.json', ...args);
  const bought = () => work.emulator.bill().filter(({ operation }) => operation === 'run').length;

  it('does exactly what was planned, with the manifest and the options of the plan, and goes on by it', async () => {
    expect(await save('--limit', '5', '--mode', 'async')).toMatchObject({ code: 0 });
    const { code, stdout } = await apply();
    expect(stdout).toContain('completed    5 of');
    expect(code).toBe(0);
    const planned = await work.call('plan', '--plan', 'rows.plan', '--prices', 'prices.json');
    expect(planned.stdout).toContain('  to be sent   0 rows\n  later        7 rows left for a later start\n');
    const again = await apply();
    expect(again.stderr).toContain('0 rows to send, 7 left for later, 5 ended before');
    expect(bought()).toBe(5);
  });

  it('keeps to the caps of the plan, unless the start gives another', async () => {
    const { stdout } = await save('--max-cost', '0.03');
    expect(stdout).toContain('$0.03');
    const { code, stderr } = await apply();
    expect(stderr).toContain('cap          $0.03');
    expect(code).toBe(3);
    expect(bought()).toBe(3);
    expect(await apply('--max-cost', '0.05')).toMatchObject({ code: 3 });
    expect(bought()).toBe(5);
    await save('--max-cost-by', 'endpoint=0.07', '--max-cost', 'none');
    expect(await apply()).toMatchObject({ code: 3 });
    expect(bought()).toBe(7);
  });

  it('names the options of the plan that each start by it has to be given again', async () => {
    const { stderr } = await save('--retry', 'failed', '--changed', 'redo', '--limit', '2');
    expect(stderr).toContain(
      'note: --save does not keep --retry, --changed: give it to run --plan as well\n',
    );
    expect((await work.call('plan', 'rows.jsonl', '--retry', 'failed')).stderr).not.toContain('--save');
  });

  it('takes a cap of a configuration file as it is when the plan is run', async () => {
    await work.write('millrace.config.json', ['{"max_cost": 0.03}']);
    await save();
    await work.write('millrace.config.json', ['{"max_cost": 0.04}']);
    expect(await apply()).toMatchObject({ code: 3 });
    expect(bought()).toBe(4);
  });

  it('goes on in the folder that was planned for, and buys nothing that stands there', async () => {
    expect((await work.call('run', 'rows.jsonl', '--prices', 'prices.json', '--out', 'mine')).code).toBe(0);
    await save('--out', 'mine');
    const { code, stderr } = await apply();
    expect(stderr).toContain('0 rows to send, 12 ended before');
    expect(code).toBe(0);
    expect(bought()).toBe(12);
    expect(await readdir(work.folder)).not.toContain('rows.out');
  });

  it('refuses another manifest, and names the first changed rows and how many they are', async () => {
    await save();
    const lines = (await readFile(join(work.folder, 'rows.jsonl'), 'utf8')).trimEnd().split('\n');
    const changed = lines.map((line, at) => (at < 11 ? line.replace('"n":', '"m":') : line)).slice(0, 11);
    await work.write('rows.jsonl', [...changed, ...echoJobs(14).slice(12)]);
    const { code, stderr } = await apply();
    expect(stderr).toContain('error: the manifest is not the one that was planned: 14 rows of it differ\n');
    expect(stderr).toContain('error: row 1 (id "j0") has changed\n');
    expect(stderr).toContain('error: … and 4 more rows\n');
    expect(stderr).toContain('error: the price is $0.13; planned: $0.12\n');
    expect(stderr).toContain('nothing was sent');
    expect(code).toBe(2);
    expect(bought()).toBe(0);
  });

  it('names new rows and those that are gone', async () => {
    await save();
    await work.write('rows.jsonl', [...echoJobs(13).slice(1)]);
    const { stderr } = await apply();
    expect(stderr).toContain('row 12 (id "j12") is new');
    expect(stderr).toContain('row 1 (id "j0") is gone');
  });

  it('refuses a manifest of other bytes, though all its rows are the same', async () => {
    await save();
    await appendFile(join(work.folder, 'rows.jsonl'), '\n');
    const { code, stderr } = await apply();
    expect(stderr).toContain('its bytes have changed, though no row that is sent');
    expect(code).toBe(2);
  });

  it('reckons with the price file of the plan, and finds where it has changed', async () => {
    await save();
    const of = (usdPerJob: number) => JSON.stringify({ endpoints: { echo: { usdPerJob } } });
    await work.write('prices.json', [of(0.02)]);
    const dearer = await work.call('run', '--plan', 'rows.plan');
    expect(dearer.stderr).toContain('error: row 1 (id "j0") costs $0.02, was $0.01\n');
    expect(dearer.code).toBe(2);
    await work.write('prices.json', [of(0.01)]);
    expect((await work.call('run', '--plan', 'rows.plan')).code).toBe(0);
    expect(bought()).toBe(12);
  });

  it('refuses other prices', async () => {
    await save();
    await work.write('prices.json', ['{"endpoints": {"echo": {"usdPerJob": 0.02}}}']);
    const { code, stderr } = await apply();
    expect(stderr).toContain('this is not what was planned: the price of 12 rows has changed');
    expect(stderr).toContain('row 1 (id "j0") costs $0.02, was $0.01');
    expect(stderr).toContain('the price is $0.24; planned: $0.12');
    expect(code).toBe(2);
    expect(bought()).toBe(0);
  });

  it('refuses options that are not those of the plan, another service among them', async () => {
    await save('--set', 'endpoint=echo');
    const { code, stderr } = await apply('--set', 'endpoint=other', '--limit', '3');
    expect(stderr).toContain(
      '--set: the plan was made with ["endpoint=echo"], this start has ["endpoint=other"]',
    );
    expect(stderr).toContain('--limit: the plan was made without it, this start has 3');
    expect(code).toBe(2);
    const elsewhere = await millrace(['run', '--plan', 'rows.plan'], {
      cwd: work.folder,
      env: { ...work.env, MILLRACE_BASE_URL: 'http://127.0.0.1:9' },
    });
    expect(elsewhere.stderr).toMatch(
      /--base-url: the plan was made with http:.*this start has http:\/\/127\.0\.0\.1:9/,
    );
    expect(elsewhere.code).toBe(2);
  });

  it('saves no plan that could not be done', async () => {
    await work.write('rows.jsonl', ['{"id":"x"}']);
    expect(await save()).toMatchObject({ code: 2 });
    const left = await readdir(work.folder);
    expect(left.filter((name) => name.startsWith('rows.plan'))).toEqual([]);
  });
});
