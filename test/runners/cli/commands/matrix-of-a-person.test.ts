import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BillLine } from '../../../../runners/emulator/bill.js';
import { chosenList } from '../../../../runners/report/pick/chosen-list.js';
import { imageEditPrices, toUsd } from '../../../../src/contract/micro-dollars.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

const payers = ['acme', 'beta', 'gamma'];
const payerOf = (n: number): string => payers[n % payers.length] ?? '';
const given = [
  ...['edits.csv', '--endpoint', 'draw', '--set', 'prompt={{style}} portrait for {{customer}}'],
  ...['--each', 'style=blur,"sepia, warm",grayscale', '--each', 'resolution=1k,2k', '--max-cost', '100'],
];

let work: Rehearsal;
beforeEach(async () => {
  const draw = async (input: Record<string, unknown>, { sleep }: { sleep(ms: number): Promise<void> }) => {
    await sleep(20);
    const cost = toUsd(imageEditPrices[input['resolution'] === '2k' ? '2k' : '1k']);
    return { image_url: work.emulator.fileUrl('drawn.png'), cost };
  };
  work = await openRehearsal({ functions: { queue: { draw } } });
  const blank = sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } });
  await blank.png().toFile(join(work.folder, 'drawn.png'));
  const rows = Array.from({ length: 40 }, (_, n) => `p${n},https://pictures.example/${n}.png,${payerOf(n)}`);
  await work.write('edits.csv', ['id,images,customer', ...rows]);
});
afterEach(() => work.close());

/** What the service has taken. */
const bill = () => work.emulator.bill();
const sent = ({ input }: Pick<BillLine, 'input'>): string => JSON.stringify(input);

it('plans, runs over two kills, settles by the bill, and picks by axis; the bill is that of the books, by customer', async () => {
  const { stdout: plan } = await work.call('plan', ...given);
  expect(plan).toContain('  matrix       40 rows × 3 style × 2 resolution = 240 rows\n');
  expect(plan).toContain('  by style     blur 80 ($8.70), sepia, warm 80 ($8.70), grayscale 80 ($8.70)\n');
  expect(plan).toContain('  by resolution 1k 120 ($10.50), 2k 120 ($15.60)\n');
  expect(bill()).toEqual([]);

  const run = () => work.start('run', ...given, '--cost-by', 'customer', '--concurrency', '4', '--quiet');
  for (const rows of [40, 130]) {
    const { child, ended } = run();
    await until(() => bill().filter(({ status }) => status === 'COMPLETED').length >= rows);
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
  }
  expect([0, 6]).toContain((await run().ended).code);

  // What was out when the process was killed is looked up in the account, as a person does.
  const held = (await work.lines('edits.out/failures.jsonl')) as unknown as Row[];
  expect(held.length).toBeLessThanOrEqual(8);
  for (const row of held) {
    const found = bill().find(({ input }) => isOf(input as Record<string, unknown>, row));
    const way = found === undefined ? ['--not-sent'] : ['--job', found.id];
    expect(await work.call('settle', 'edits.out', row.id, ...way)).toMatchObject({ code: 0 });
  }
  expect(await run().ended).toMatchObject({ code: 0 });

  const results = (await work.lines('edits.out/results.jsonl')) as unknown as Result[];
  const expected = Array.from({ length: 40 }, (_, n) => `p${n}`);
  expect(new Set(results.map(({ id }) => id.split('.')[0]))).toEqual(new Set(expected));
  expect([results.length, new Set(results.map(({ id }) => id)).size]).toEqual([240, 240]);
  expect([bill().length, new Set(bill().map(sent)).size]).toEqual([240, 240]);

  const books = (await work.json('edits.out/summary.json')) as unknown as Summary;
  for (const payer of payers) {
    const billed = bill().filter((line) => sent(line).includes(`for ${payer}"`));
    const micro = billed.reduce((sum, { costMicroDollars }) => sum + costMicroDollars, 0);
    const booked = books.cost.by['customer']?.values[payer];
    expect([booked?.purchases, Math.round((booked?.reported ?? 0) * 1e6)]).toEqual([billed.length, micro]);
  }
  await work.write('bill.csv', [
    'jobId,cost',
    ...bill().map(({ id, costMicroDollars }) => `${id},${toUsd(costMicroDollars)}`),
  ]);
  const even = await work.call('reconcile', 'edits.out', '--statement', 'bill.csv');
  expect(even.stdout).toContain('The books are even.');

  // The list that the report saves, of one style in the larger resolution.
  const kept = results.filter(
    ({ columns }) => columns['style'] === 'sepia, warm' && columns['resolution'] === '2k',
  );
  const list = kept.map(({ id, row, jobId, image, columns }) => ({
    id,
    row,
    jobId,
    file: image.path,
    stars: 4,
    axes: { style: columns['style'] ?? '', resolution: columns['resolution'] ?? '' },
  }));
  await writeFile(join(work.folder, 'mine.csv'), chosenList(list));
  const picked = await work.call('pick', 'edits.out', 'mine.csv', '--to', 'chosen');
  expect(picked).toMatchObject({ code: 0 });
  expect(picked.stdout).toContain('40 pictures copied to chosen');
  const [head = '', ...lines] = (await readFile(join(work.folder, 'chosen/chosen.csv'), 'utf8'))
    .trimEnd()
    .split('\r\n');
  expect(head.endsWith(',jobId,style,resolution')).toBe(true);
  expect(lines).toHaveLength(40);
  for (const line of lines) expect(line).toMatch(/,"sepia, warm",2k$/);
  expect(await readdir(join(work.folder, 'chosen'))).toHaveLength(41);

  // One style more buys its rows alone, and the start says so.
  const wider = given.map((word) => (word.startsWith('style=') ? `${word},ink` : word));
  const more = await work.call('run', ...wider, '--limit', '10');
  expect(more).toMatchObject({ code: 0 });
  expect(more.stderr).toContain('  axes         style: new "ink"\n');
  const added = bill().slice(240);
  expect(added).toHaveLength(10);
  for (const line of added) expect(sent(line)).toContain('"ink portrait for ');
  // And a style less buys nothing.
  const fewer = given.map((word) => (word.startsWith('style=') ? 'style=blur,grayscale' : word));
  const less = await work.call('run', ...fewer);
  expect(less).toMatchObject({ code: 0 });
  expect(less.stderr).toContain('  axes         style: no longer asked for "sepia, warm", "ink"\n');
  expect(bill()).toHaveLength(250);
});

interface Row {
  readonly id: string;
  readonly images: string;
  readonly prompt: string;
  readonly resolution: string;
}

function isOf(input: Readonly<Record<string, unknown>>, { images, prompt, resolution }: Row): boolean {
  return (
    [input['images'], input['prompt'], input['resolution']].join() === [images, prompt, resolution].join()
  );
}

interface Result {
  readonly id: string;
  readonly row: number;
  readonly jobId: string;
  readonly image: { readonly path: string };
  readonly columns: Readonly<Record<string, string>>;
}

interface Summary {
  readonly cost: {
    readonly by: Readonly<
      Record<string, { readonly values: Readonly<Record<string, { purchases: number; reported: number }>> }>
    >;
  };
}
