import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { imageEditPrices, toUsd } from '../../../../src/contract/micro-dollars.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

const matrix = [
  ...['--endpoint', 'draw', '--set', 'prompt={{style}} portrait', '--no-download', '--max-cost', '100'],
  ...['--each', 'style=blur,"sepia, warm",grayscale', '--each', 'resolution=1k,2k'],
];

/** Costs what an edit costs, and draws nothing. */
async function edit(input: Record<string, unknown>, { sleep }: { sleep(ms: number): Promise<void> }) {
  await sleep(20);
  if (input['prompt'] === 'refused') throw new Error('no such picture');
  const resolution = input['resolution'] === '2k' ? '2k' : '1k';
  return { image_url: 'https://pictures.example/edited.png', cost: toUsd(imageEditPrices[resolution]) };
}

describe('millrace run with --each', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal({ functions: { queue: { draw: edit } } });
    const rows = Array.from({ length: 40 }, (_, n) => `p${n},https://pictures.example/${n}.png`);
    await work.write('edits.csv', ['id,images', ...rows]);
  });
  afterEach(() => work.close());

  const plan = async (...args: string[]) =>
    JSON.parse((await work.call('plan', 'edits.csv', '--json', ...args)).stdout);
  const spent = () => work.emulator.bill().reduce((sum, { costMicroDollars }) => sum + costMicroDollars, 0);

  it('prices the product by axis before anything is sent', async () => {
    const { stdout } = await work.call('plan', 'edits.csv', ...matrix);
    expect(stdout).toContain('  matrix       40 rows × 3 style × 2 resolution = 240 rows\n');
    expect(stdout).toContain(
      '  by style     blur 80 ($8.70), sepia, warm 80 ($8.70), grayscale 80 ($8.70)\n',
    );
    expect(stdout).toContain('  by resolution 1k 120 ($10.50), 2k 120 ($15.60)\n');
    const { rows, cost, matrix: found } = await plan(...matrix);
    expect({ rows, cost }).toEqual({ rows: 240, cost: { estimated: 26.1, unpriced: 0 } });
    expect(found.axes[1]).toEqual({
      name: 'resolution',
      values: [
        { value: '1k', rows: 120, cost: { estimated: 10.5, unpriced: 0 } },
        { value: '2k', rows: 120, cost: { estimated: 15.6, unpriced: 0 } },
      ],
    });
    expect(await plan(...matrix, '--only', 'style="sepia, warm",resolution=2k')).toMatchObject({
      rows: 40,
      cost: { estimated: 5.2 },
    });
    expect(await plan(...matrix, '--only', 'style=blur', '--limit', '3')).toMatchObject({ rows: 3 });
    expect(work.emulator.bill()).toEqual([]);
  });

  it('is killed, goes on with what was bought under its id, and the bill equals the books', async () => {
    const first = work.start('run', 'edits.csv', ...matrix, '--concurrency', '4');
    await until(() => work.emulator.bill().filter(({ status }) => status === 'COMPLETED').length >= 20);
    first.child.kill('SIGKILL');
    await first.ended;
    const end = await work.call('run', 'edits.csv', ...matrix, '--concurrency', '8', '--quiet');
    // What was on the wire when it was killed is held, and is not sent again.
    const held = new Set((await work.lines('edits.out/failures.jsonl')).map(({ id }) => id));
    expect({ code: end.code, held: held.size }).toEqual({
      code: held.size > 0 ? 6 : 0,
      held: expect.any(Number),
    });
    expect(held.size).toBeLessThanOrEqual(4);
    const results = (await work.lines('edits.out/results.jsonl')) as unknown as Result[];
    expect(new Set([...results.map(({ id }) => id), ...held]).size).toBe(240);
    expect(results).toHaveLength(240 - held.size);
    for (const { id, request, columns } of results) {
      expect(request.input).toMatchObject({
        prompt: `${columns['style']} portrait`,
        resolution: columns['resolution'],
      });
      expect(id).toMatch(/^p\d+\.resolution-[12]k\.style-/);
    }
    const bought = work.emulator
      .bill()
      .map(({ input, costMicroDollars: cost }) => ({ sent: JSON.stringify(input), cost }));
    expect(new Set(bought.map(({ sent }) => sent)).size).toBe(bought.length);
    const known = new Set(results.map(({ request }) => JSON.stringify(request.input)));
    const booked = bought.filter(({ sent }) => known.has(sent)).reduce((sum, { cost }) => sum + cost, 0);
    const { cost } = (await work.json('edits.out/summary.json')) as {
      cost: { reported: number; unknown: number };
    };
    expect(booked).toBe(Math.round(cost.reported * 1e6));
    expect(Math.round((cost.reported + cost.unknown) * 1e6)).toBeGreaterThanOrEqual(spent());
  });

  it('does a value that is added, and nothing again; and the rows of an axis alone', async () => {
    const each = (styles: string) => [
      ...matrix.slice(0, 5),
      '--max-cost',
      '100',
      '--each',
      `style=${styles}`,
      '--quiet',
    ];
    expect((await work.call('run', 'edits.csv', ...each('blur'), '--limit', '2')).code).toBe(0);
    expect(
      (await work.call('run', 'edits.csv', ...each('ink,blur'), '--only', 'style=ink', '--limit', '1')).code,
    ).toBe(0);
    expect(
      (await work.call('run', 'edits.csv', ...each('ink,blur'), '--only', 'p0.style-blur,p0.style-ink')).code,
    ).toBe(0);
    const ids = ((await work.lines('edits.out/results.jsonl')) as unknown as Result[]).map(({ id }) => id);
    expect(ids.sort()).toEqual(['p0.style-blur', 'p0.style-ink', 'p1.style-blur']);
    expect(work.emulator.bill()).toHaveLength(3);
    const { code, stderr } = await work.call('run', 'edits.csv', ...each('ink,blur'), '--only', 'style=oil');
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(stderr).toContain('no row has the id "style=oil", or "oil" in a column "style"');
  });

  it('reads axes of a file that is named, and of no other', async () => {
    await work.write('axes.csv', ['axis,value', 'style,"oil, wet"', 'style,ink', 'resolution,4k']);
    const given = ['--endpoint', 'draw', '--set', 'prompt={{style|plain}}'];
    const { stderr } = await work.call('plan', 'edits.csv', ...given);
    expect(stderr).toContain('{{style}} names no column of this row');
    expect(await plan(...given, '--axes', 'axes.csv')).toMatchObject({
      rows: 80,
      byResolution: { '4k': 80 },
    });
    const twice = await work.call('plan', 'edits.csv', ...given, '--axes', 'axes.csv', '--each', 'style=a');
    expect(twice).toMatchObject({
      code: 2,
      stderr: 'error: --axes: axes.csv has the axis "style", and --each style=… gives it too\n',
    });
    const missing = await work.call('plan', 'edits.csv', ...given, '--axes', 'none.csv');
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain('error: --axes: none.csv: cannot be read: ENOENT');
  });

  it.each([
    ['style', '"style" is not of the form NAME=VALUE,VALUE'],
    ['style="a"b', 'quote in "…"'],
    ['style="a', 'quote in "…"'],
    ['style=a,,b', '--each style=…: has an empty value'],
    ['style=a,a', '--each style=…: has "a" twice'],
  ])('refuses --each %s', async (each, text) => {
    const { code, stderr } = await work.call(
      'plan',
      'edits.csv',
      '--endpoint',
      'e',
      '--set',
      'prompt={{style}}',
      '--each',
      each,
    );
    expect({ code }).toEqual({ code: 2 });
    expect(stderr).toContain(text);
  });

  it('works the failures of a matrix as they are, and not multiplied again', async () => {
    await work.write('edits.csv', ['id,images', 'p0,https://pictures.example/0.png']);
    const given = ['--endpoint', 'draw', '--no-download', '--each', 'style=blur,ink'];
    const set = ['--set', 'prompt=refused', '--set', 'input.style={{style}}'];
    expect((await work.call('run', 'edits.csv', ...given, ...set)).code).toBe(1);
    const again = ['plan', 'edits.out/failures.jsonl', '--out', 'again', '--json', ...given];
    const found = JSON.parse((await work.call(...again)).stdout);
    expect(found).toMatchObject({ rows: 2, cost: { estimated: 0.175 } });
  });
});

interface Result {
  readonly id: string;
  readonly request: { readonly input: { readonly prompt: string } };
  readonly columns: Readonly<Record<string, string>>;
}
