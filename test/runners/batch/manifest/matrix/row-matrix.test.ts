import { test } from '@fast-check/vitest';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liveItems } from '../../../../../runners/batch/manifest/live-items.js';
import { planManifest } from '../../../../../runners/batch/manifest/plan-manifest.js';
import { readAxes } from '../../../../../runners/batch/manifest/matrix/read-axes.js';
import { artifactName } from '../../../../../runners/batch/artifacts/artifact-name.js';
import {
  inChunks,
  jsonLines,
  readInvalid,
  readItems,
  readRows,
  type TestSettings,
} from '../../../../support/manifest-items.js';

const url = 'https://example.com/1.png';
const set = { prompt: '{{style}} cat' };
const two = `id,images\nlake,${url}\nhill,${url}\n`;

async function idsOf(settings: TestSettings, text = two): Promise<string[]> {
  return (await readRows(text, settings)).map(({ id }) => id);
}

describe('--each and --repeat', () => {
  it('make one row of each combination, the last axis fastest, with the values in columns', async () => {
    const rows = await readRows(`id,images,gallery\nlake,${url},g\n`, {
      set,
      each: { style: ['oil', 'ink'], resolution: ['1k', '2k'] },
      repeat: 2,
    });
    expect(rows.map(({ id, row, line, resolution }) => [id, row, line, resolution])).toEqual([
      ['lake.resolution-1k.style-oil', 1, 2, '1k'],
      ['lake.resolution-1k.style-oil.repeat-2', 2, 2, '1k'],
      ['lake.resolution-2k.style-oil', 3, 2, '2k'],
      ['lake.resolution-2k.style-oil.repeat-2', 4, 2, '2k'],
      ['lake.resolution-1k.style-ink', 5, 2, '1k'],
      ['lake.resolution-1k.style-ink.repeat-2', 6, 2, '1k'],
      ['lake.resolution-2k.style-ink', 7, 2, '2k'],
      ['lake.resolution-2k.style-ink.repeat-2', 8, 2, '2k'],
    ]);
    expect(rows[2]).toMatchObject({
      request: { input: { images: [url], prompt: 'oil cat', resolution: '2k' } },
      columns: { gallery: 'g', style: 'oil', resolution: '2k', repeat: '1' },
      cells: { id: 'lake.resolution-2k.style-oil', prompt: 'oil cat', resolution: '2k', style: 'oil' },
    });
    expect(rows[0]?.hash).toBe(rows[1]?.hash);
  });

  it('leave ids alone where nothing multiplies', async () => {
    await expect(idsOf({ set: { prompt: 'x' }, each: {}, repeat: 1 })).resolves.toEqual(['lake', 'hill']);
  });

  it('set fields of jobs and routes, with the types that cells of a CSV have', async () => {
    const text = jsonLines({ id: 'j', input: { a: 1 } });
    const rows = await readRows(text, {
      format: 'jsonl',
      each: { 'input.seed': ['1', '007'], endpoint: ['a', 'b'] },
    });
    expect(rows.map(({ id, endpoint, request }) => [id, endpoint, request])).toEqual([
      ['j.endpoint-a.input.seed-1', 'a', { kind: 'job', input: { a: 1, seed: 1 } }],
      ['j.endpoint-b.input.seed-1', 'b', { kind: 'job', input: { a: 1, seed: 1 } }],
      ['j.endpoint-a.input.seed-007', 'a', { kind: 'job', input: { a: 1, seed: '007' } }],
      ['j.endpoint-b.input.seed-007', 'b', { kind: 'job', input: { a: 1, seed: '007' } }],
    ]);
    expect(rows[0]?.columns).toEqual({ 'input.seed': '1', endpoint: 'a' });
  });

  it('number the repeats of rows without an id behind the id of the first', async () => {
    const rows = await readRows(`images,prompt\n${url},x\n${url},x\n`, { repeat: 2 });
    const [first = { id: '' }] = rows;
    expect(rows.map(({ id }) => id)).toEqual(
      ['', '.repeat-2', '-2', '-2.repeat-2'].map((end) => first.id + end),
    );
    expect(rows.map(({ repeat }) => repeat)).toEqual([undefined, undefined, 2, 2]);
  });

  it('fill templates with the number of the repeat', async () => {
    const rows = await readRows(`id,images,prompt\na,${url},x\n`, {
      repeat: 2,
      set: { 'input.seed': '{{repeat}}' },
    });
    expect(
      rows.map(({ id, request }) => [id, (request as unknown as { input: { seed: number } }).input.seed]),
    ).toEqual([
      ['a', 1],
      ['a.repeat-2', 2],
    ]);
  });

  it('are not applied again to failures, to rows to be done again, and to jobs that are collected', async () => {
    const each = { style: ['oil', 'ink'] };
    const failure = {
      id: 'a.style-oil',
      images: [url],
      prompt: 'oil cat',
      style: 'oil',
      error: { code: 'rejected', paid: 'no', message: '', retryable: false },
      millrace: { kind: 'edit', endpoint: 'e' },
    };
    const text = jsonLines(
      failure,
      { id: 'b.style-ink', images: [url], prompt: 'ink cat', style: 'ink', redo: 'job-1' },
      { id: 'c', jobId: 'job-2' },
    );
    await expect(idsOf({ format: 'jsonl', each, repeat: 2, set }, text)).resolves.toEqual([
      'a.style-oil',
      'b.style-ink',
      'c',
    ]);
    const sheet = 'id,images,prompt,style,error.code,error.paid,millrace.kind,millrace.endpoint\n';
    const line = `a.style-oil,${url},oil cat,oil,rejected,no,edit,e\n`;
    await expect(idsOf({ each, set }, sheet + line)).resolves.toEqual(['a.style-oil']);
  });

  it('multiply rows that arrive', async () => {
    const ids: string[] = [];
    const settings = {
      name: 'stdin',
      format: 'jsonl',
      gzip: false,
      endpoint: 'e',
      set,
      each: { style: ['a', 'b'] },
    } as const;
    for await (const item of liveItems([{ id: 'x', images: [url] }], settings)) ids.push(item.row.id ?? '');
    expect(ids).toEqual(['x.style-a', 'x.style-b']);
  });

  it.each<[TestSettings['each'], RegExp]>([
    [{ style: ['oil', 'oil'] }, /--each style=…: has "oil" twice: each row would be bought again$/],
    [{ resolution: ['2k', '2K '] }, /has "2k" and "2K ", which are the same/],
    [{ style: ['e\u0301', '\u00e9'] }, /which are the same/],
    [{ style: ['a', ' '] }, /has an empty value$/],
    [{ style: [] }, /has no values$/],
    [{ style: ['\ud83d'] }, /holds half a character/],
    [{ id: ['a'] }, /id is a row's own and cannot be an axis$/],
    [{ redo: ['a'] }, /redo is a row's own/],
    [{ repeat: ['1', '2'] }, /with --repeat N$/],
    [{ 'input.': ['a'] }, /has an empty part/],
    [{ 'a\u0000': ['a'] }, /is not a name of a column$/],
    [
      { x: numbers(2_000), y: numbers(2_000) },
      /each row would become 4000000 rows; at most 1000000 are allowed$/,
    ],
  ])('refuse the axes %#', async (each, message) => {
    await expect(readRows(two, { each, set: { prompt: 'x' } })).rejects.toThrow(message);
  });

  it('refuse an axis that is misspelt, or that a field is mapped from', async () => {
    await expect(readRows(two, { set: { prompt: 'x' }, each: { resolutoin: ['1k', '2k'] } })).rejects.toThrow(
      /column 3 \("resolutoin"\) is not sent, but looks like "resolution", for which there is no column/,
    );
    const map = { resolution: 'size' };
    await expect(readRows(two, { set: { prompt: 'x' }, map, each: { resolution: ['1k'] } })).rejects.toThrow(
      '--each resolution=…: --map resolution=size reads this field from "size"; give the axis that name',
    );
    const text = `id,images,size\nlake,${url},\n`;
    const rows = await readRows(text, { set: { prompt: 'x' }, map, each: { size: ['1k', '2k'] } });
    expect(rows.map(({ id, resolution, columns }) => [id, resolution, columns])).toEqual([
      ['lake.size-1k', '1k', { size: '1k' }],
      ['lake.size-2k', '2k', { size: '2k' }],
    ]);
  });

  it('refuse rows that have the column themselves, and rows that an axis makes no difference to', async () => {
    const text = `id,images,prompt,style\na,${url},,oil\nb,${url},,\nc,${url},my own,\n`;
    const invalid = await readInvalid(text, { set, each: { style: ['oil', 'ink'] } });
    expect(
      invalid.map(({ line, id, problems }) => [
        line,
        id,
        problems[0]?.column,
        problems[0]?.message.slice(0, 58),
      ]),
    ).toEqual([
      [2, 'a', 'style', 'holds "oil", and --each style=… gives it too; empty the ce'],
      [4, 'c.style-oil', '--each style', 'nothing that this row sends depends on it, so each of its '],
      [4, 'c.style-ink', '--each style', 'nothing that this row sends depends on it, so each of its '],
    ]);
  });

  const hostile = [
    ...[
      'oil, wet',
      'a "quoted" one',
      '\u202eevil',
      '{{style}}',
      '{{',
      'a/b',
      '..',
      '../../x',
      'x'.repeat(1_000),
      '🎨',
      '🖌',
    ],
    ...[
      'مرحبا',
      '16:9',
      'con',
      '-',
      'a b',
      'a  b',
      'a\nb',
      '=1+1',
      'Oil',
      'oil',
      '<script>',
      '%2e%2e',
      'a.b',
      'a..b',
    ],
  ];

  it('take any value, and give each row an id and a picture of its own', async () => {
    const rows = await readRows(`id,images\nlake,${url}\n`, { set, each: { style: hostile } });
    expect(rows.map(({ columns }) => columns['style'])).toEqual(hostile);
    expect(rows.map(({ cells }) => cells['prompt'])).toEqual(hostile.map((style) => `${style} cat`));
    const names = rows.map(({ id }) => artifactName({ id, format: 'png' }));
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBeGreaterThanOrEqual(hostile.length - 1);
    expect(new Set(names).size).toBe(hostile.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._~-]*$/);
    for (const { id } of rows) expect(id).toMatch(/^lake\.style-[\p{L}\p{N}._-]+$/u);
  });

  const value = fc
    .oneof(fc.constantFrom(...hostile), fc.string({ unit: 'grapheme', minLength: 1 }))
    .filter(isTaken);
  const values = fc.uniqueArray(value, {
    minLength: 1,
    maxLength: 5,
    selector: (text) => text.trim().normalize('NFC'),
  });
  const axes = fc.dictionary(fc.constantFrom('style', 'mood', 'a b', 'é', 'x,y'), values, {
    minKeys: 1,
    maxKeys: 3,
  });

  test.prop([axes, fc.integer({ min: 1, max: 3 })])(
    'give the same ids whatever the order of the axes, and keep them when a value is added',
    async (each, repeat) => {
      const names = Object.keys(each);
      const template = names.map((name) => `{{${name}}}`).join('/');
      const settings = { set: { prompt: template } };
      const ids = await idsOf({ ...settings, each, repeat });
      expect(new Set(ids).size).toBe(ids.length);
      const product = Object.values(each).reduce((count, list) => count * list.length, 1);
      expect(ids).toHaveLength(2 * product * repeat);
      const turned = Object.fromEntries(Object.entries(each).reverse());
      expect((await idsOf({ ...settings, each: turned, repeat })).sort()).toEqual([...ids].sort());
      const [first = ''] = names;
      const more = { ...each, [first]: ['one more of them', ...(each[first] ?? [])] };
      expect(new Set(await idsOf({ ...settings, each: more, repeat: repeat + 1 }))).toEqual(
        new Set([...(await idsOf({ ...settings, each: more, repeat: repeat + 1 })), ...ids]),
      );
    },
  );

  it('read back what they make: the cells of each row are a row that sends the same', async () => {
    const rows = await readRows(two, {
      set,
      each: { style: ['oil, wet', 'ink'], 'input.seed': ['1', '2'] },
      repeat: 2,
    });
    const again = await readRows(jsonLines(...rows.map(({ cells }) => cells)), { format: 'jsonl' });
    expect(again.map(({ id, hash }) => [id, hash])).toEqual(rows.map(({ id, hash }) => [id, hash]));
  });
});

describe('a plan of a matrix', () => {
  const priceOf = ({ resolution }: { resolution?: string }) => (resolution === '2k' ? 130_000 : 87_500);

  it('prices the product by axis, and does not name its rows as the same', async () => {
    const text = `id,images\n${Array.from({ length: 40 }, (_, n) => `p${n},https://example.com/${n}.png\n`).join('')}`;
    const settings = { set, each: { style: ['a', 'b', 'c'], resolution: ['1k', '2k'] } };
    const again = () => itemsOf(text, settings);
    const plan = await planManifest(itemsOf(text, settings), { priceOf, again });
    expect(plan.rows).toBe(240);
    expect(plan.cost.estimated).toBe(120 * 87_500 + 120 * 130_000);
    expect(plan.same?.rows).toBe(0);
    const style = { rows: 80, estimated: 40 * (87_500 + 130_000), unpriced: 0 };
    expect(plan.matrix).toEqual({
      sources: 40,
      rows: 240,
      alone: 0,
      axes: [
        { name: 'style', values: ['a', 'b', 'c'].map((value) => ({ value, ...style })) },
        {
          name: 'resolution',
          values: [
            { value: '1k', rows: 120, estimated: 120 * 87_500, unpriced: 0 },
            { value: '2k', rows: 120, estimated: 120 * 130_000, unpriced: 0 },
          ],
        },
      ],
    });
  });

  it('still names a line that asks for the same as another line, once for each of its rows', async () => {
    const text = `id,images,prompt\na,${url},x\nb,${url},x\nc,${url},y\n`;
    const settings = { repeat: 3 };
    const plan = await planManifest(itemsOf(text, settings), {
      priceOf,
      again: () => itemsOf(text, settings),
    });
    expect(plan.same?.first).toEqual([
      { id: 'b', line: 3, sameAsLine: 2 },
      { id: 'b.repeat-2', line: 3, sameAsLine: 2 },
      { id: 'b.repeat-3', line: 3, sameAsLine: 2 },
    ]);
  });
});

describe('readAxes', () => {
  const read = (text: string) => readAxes(inChunks(Buffer.from(text)), 'axes.csv');

  it('reads a value a line', async () => {
    await expect(read('axis,value\nstyle,"oil, wet"\nresolution,1k\nstyle,"say ""ink"""\n')).resolves.toEqual(
      {
        style: ['oil, wet', 'say "ink"'],
        resolution: ['1k'],
      },
    );
  });

  it.each([
    [
      'style,resolution\noil,1k\n',
      /^axes\.csv: has the columns "style", "resolution"; a file of axes has axis and value/,
    ],
    ['axis,value\nstyle,\n', /^axes\.csv, line 2: has an empty axis or value$/],
    ['axis,value\nstyle,oil,ink\n', /^axes\.csv, line 2: has 3 cells/],
    [
      'axis,value\nstyle,oil\nstyle,ink\nstyle,oil\n',
      /^axes\.csv, line 4: style has "oil" a second time: each row would be bought again$/,
    ],
    ['axis,value\n', /^axes\.csv: holds no value of an axis$/],
    ['', /^axes\.csv: is empty/],
  ])('refuses %j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });
});

async function* itemsOf(text: string, settings: TestSettings) {
  yield* await readItems(text, settings);
}

function isTaken(text: string): boolean {
  return text.trim() !== '' && !/[\ud800-\udfff]/u.test(text);
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index));
}
