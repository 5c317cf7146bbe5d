import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace, type MillraceEnd } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

const edits = [0, 1, 2].map((n) => ({ id: `p${n}`, images: [`https://pictures.example/${n}.png`], n }));
const csv = ['id,images,n', ...edits.map(({ id, images: [image], n }) => `${id},${image},${n}`), ''].join(
  '\n',
);
const jsonl = edits.map((row) => `${JSON.stringify(row)}\n`).join('');
const given = ['--endpoint', 'echo', '--set', 'prompt={{style}} {{n}}', '--no-download', '--max-cost', '100'];
const styles = (...values: string[]) => ['--each', `style=${values.join(',')}`];
const idsOf = (...values: string[]) =>
  values.flatMap((style) => edits.map(({ id }) => `${id}.style-${style}`));

describe('axes of a manifest', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
  });
  afterEach(() => work.close());

  const put = (name: string, content: string | Buffer) => writeFile(join(work.folder, name), content);
  const through = (input: string, ...args: string[]): Promise<MillraceEnd> =>
    millrace(args, { cwd: work.folder, env: work.env, input });
  const results = async (out: string) => (await work.lines(`${out}/results.jsonl`)) as unknown as Result[];
  const prompts = () => work.emulator.bill().map(({ input }) => (input as { prompt: string }).prompt);

  it.each([
    ['csv', csv],
    ['jsonl', jsonl],
  ])('through stdin as %s: a value more buys its rows alone, a value less nothing', async (format, text) => {
    const from = (command: string, ...values: string[]) =>
      through(text, command, '-', '--format', format, '--out', 'out', ...given, ...styles(...values));
    expect((await from('plan', 'oil', 'ink')).stdout).toContain(
      '  by style     oil 3 ($0.2625), ink 3 ($0.2625)\n',
    );
    expect(await from('run', 'oil', 'ink')).toMatchObject({ code: 0 });
    expect(prompts()).toHaveLength(6);
    const more = await from('run', 'wax', 'ink', 'oil');
    expect(more).toMatchObject({ code: 0 });
    expect(more.stderr).toContain('  axes         style: new "wax"\n');
    expect(more.stderr).toContain('  this start   3 rows to send, 6 ended before\n');
    expect(prompts().slice(6).sort()).toEqual(['wax 0', 'wax 1', 'wax 2']);
    const less = await from('run', 'wax', 'ink');
    expect(less).toMatchObject({ code: 0 });
    expect(less.stderr).toContain('  not in it    3 rows of earlier starts, kept\n');
    expect(less.stderr).toContain('  axes         style: no longer asked for "oil"\n');
    expect(prompts()).toHaveLength(9);
    expect((await results('out')).map(({ id }) => id).sort()).toEqual(idsOf('oil', 'ink', 'wax').sort());
  });

  it('gives the same rows the same ids and prices from CSV, JSONL and both packed', async () => {
    await put('e.csv', csv);
    await put('e.jsonl', jsonl);
    await put('e.csv.gz', gzipSync(csv));
    await put('e.jsonl.gz', gzipSync(jsonl));
    const all = ['--repeat', '2', ...given, ...styles('oil', 'ink')];
    const plans = [];
    for (const name of ['e.csv', 'e.jsonl', 'e.csv.gz', 'e.jsonl.gz']) {
      expect(await work.call('plan', name, '--save', 'of.plan', ...all)).toMatchObject({ code: 0 });
      const lines = await work.lines('of.plan');
      plans.push(lines.slice(1, -1).map(({ id, price }) => ({ id, price })));
    }
    const [first, ...others] = plans;
    expect(first).toHaveLength(12);
    expect(first).toContainEqual({ id: 'p2.style-ink.repeat-2', price: 87_500 });
    for (const other of others) expect(other).toEqual(first);
    expect(await work.call('run', 'e.jsonl.gz', '--out', 'out', ...all)).toMatchObject({ code: 0 });
    expect(await work.call('run', 'e.csv', '--out', 'out', ...all)).toMatchObject({ code: 0 });
    expect(prompts()).toHaveLength(12);
  });

  it('are run by a saved plan, and by no other values than it has', async () => {
    await put('e.csv', csv);
    const planned = [...given.slice(0, -2), ...styles('oil', 'ink')];
    expect(await work.call('plan', 'e.csv', '--save', 'e.plan', ...planned)).toMatchObject({ code: 0 });
    const run = (...args: string[]) => work.call('run', '--plan', 'e.plan', '--max-cost', '100', ...args);
    const more = await run(...styles('oil', 'ink', 'wax'));
    expect(more.code).toBe(2);
    expect(more.stderr).toContain(
      'error: --each: the plan was made with ["style=oil,ink"], this start has ["style=oil,ink,wax"]\n' +
        '  nothing was sent',
    );
    expect(prompts()).toEqual([]);
    expect(await run()).toMatchObject({ code: 0 });
    expect((await run()).stdout).toContain('Nothing to do');
    expect((await results('e.out')).map(({ id }) => id).sort()).toEqual(idsOf('oil', 'ink').sort());
    expect(prompts()).toHaveLength(6);
  });

  it('are run by a saved plan with the values that their file had then, in that order', async () => {
    await put('e.csv', csv);
    await put('axes.csv', 'axis,value\nstyle,oil\nstyle,ink\n');
    const planned = [...given.slice(0, -2), '--axes', 'axes.csv'];
    expect(await work.call('plan', 'e.csv', '--save', 'e.plan', ...planned)).toMatchObject({ code: 0 });
    await put('axes.csv', 'axis,value\nstyle,oil\nstyle,ink\nstyle,wax\n');
    const more = await work.call('run', '--plan', 'e.plan', '--max-cost', '100');
    expect(more.code).toBe(2);
    expect(more.stderr).toContain('error: this is not what was planned: 3 rows differ\n');
    expect(more.stderr).toContain('(id "p0.style-wax") is new\n');
    expect(prompts()).toEqual([]);
    await put('axes.csv', 'axis,value\nstyle,ink\nstyle,oil\n');
    const other = await work.call('run', '--plan', 'e.plan', '--max-cost', '100');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(
      'error: this is not what was planned: the same rows are in another order\n',
    );
    expect(prompts()).toEqual([]);
    await put('axes.csv', 'axis,value\nstyle,oil\nstyle,ink\n');
    expect(await work.call('run', '--plan', 'e.plan', '--max-cost', '100')).toMatchObject({ code: 0 });
    expect(prompts()).toHaveLength(6);
  });

  it('stand in costs.csv, summary.json and status, and money is counted by them and capped', async () => {
    await put('e.csv', csv);
    const each = [...styles('oil', 'ink'), '--each', 'resolution=1k,2k'];
    const money = ['--cost-by', 'resolution', '--max-cost-by', 'style=0.35'];
    const capped = await work.call('run', 'e.csv', ...given, ...each, ...money, '--concurrency', '1');
    expect(capped).toMatchObject({ code: 3 });
    const { stdout } = await work.call('status', 'e.out');
    expect(stdout).toContain('  by style     ink: ');
    expect(stdout).toContain('  by resolution 1k: ');
    const { cost } = (await work.json('e.out/summary.json')) as unknown as Summary;
    expect(Object.keys(cost.by).sort()).toEqual(['resolution', 'style']);
    const [head = '', ...lines] = (await readFile(join(work.folder, 'e.out/costs.csv'), 'utf8'))
      .trimEnd()
      .split(/\r?\n/);
    expect(head).toMatch(/,style\b/);
    const style = head.split(',').indexOf('style');
    for (const [value, { purchases, estimated }] of Object.entries(cost.by['style']!.values)) {
      expect(estimated).toBeLessThanOrEqual(0.35);
      expect(lines.filter((line) => line.split(',')[style] === value)).toHaveLength(purchases);
    }
    const more = ['--max-cost-by', 'style=none'];
    expect(await work.call('run', 'e.csv', ...given, ...each, ...more)).toMatchObject({ code: 0 });
    expect(prompts()).toHaveLength(12);
  });
});

interface Result {
  readonly id: string;
}

interface Summary {
  readonly cost: {
    readonly by: Readonly<
      Record<string, { readonly values: Readonly<Record<string, { purchases: number; estimated: number }>> }>
    >;
  };
}
