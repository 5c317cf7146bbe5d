import { test } from '@fast-check/vitest';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLines, readInvalid, readRows } from '../../../../support/manifest-items.js';

const url = 'https://example.com/1.png';

/** The prompt that `--set prompt=…` gives to a row with these columns. */
async function promptOf(template: string, columns: Readonly<Record<string, unknown>>): Promise<unknown> {
  const [row] = await readRows(jsonLines({ id: 'x', images: [url], ...columns }), {
    format: 'jsonl',
    set: { prompt: template },
  });
  return (row?.request as { input: { prompt: unknown } }).input.prompt;
}

/** What is wrong with the only row. */
async function problemOf(template: string, columns: Readonly<Record<string, unknown>>) {
  const settings = { format: 'jsonl', set: { prompt: template } } as const;
  const [invalid] = await readInvalid(jsonLines({ id: 'x', images: [url], ...columns }), settings);
  return invalid?.problems;
}

describe('--set with {{column}}', () => {
  it('fills the columns of each row of a CSV, and sends and hashes the result', async () => {
    const rows = await readRows(
      `id,images,style,subject,prompt\na,${url},oil,a cat,\nb,${url},"ink, wet",a dog,\nc,${url},oil,a cat,my own\n`,
      { set: { prompt: '{{style}} portrait of {{ subject }}' } },
    );
    const [written] = await readRows(`id,images,prompt\na,${url},oil portrait of a cat\n`);
    expect(rows.map(({ cells }) => cells['prompt'])).toEqual([
      'oil portrait of a cat',
      'ink, wet portrait of a dog',
      'my own',
    ]);
    expect(rows[0]?.request).toMatchObject({ input: { prompt: 'oil portrait of a cat' } });
    expect(rows[0]?.hash).toBe(written?.hash);
    expect(rows[0]?.columns).toEqual({ style: 'oil', subject: 'a cat' });
  });

  it.each([
    ['\\{{name}} of {{name}}', '{{name}} of cat'],
    ['C:\\\\{{name}}', 'C:\\cat'],
    ['a \\ b }} {{name}}', 'a \\ b }} cat'],
    ['{{colour|red}} {{name}}', 'red cat'],
    ['{{none|}}{{name}}', 'cat'],
    ['{{deep.er.0}} {{n}} {{flag}}', 'first 42 true'],
    ['{{a.b}}', 'dotted'],
  ])('reads %s as %s', async (template, prompt) => {
    const columns = {
      name: 'cat',
      colour: ' ',
      none: null,
      deep: { er: ['first'] },
      n: 42,
      flag: true,
      'a.b': 'dotted',
    };
    await expect(promptOf(template, columns)).resolves.toBe(prompt);
  });

  it.each([
    ['{{sytle}} cat', '{{sytle}} names no column of this row; did you mean {{style}}?'],
    ['{{wood}} cat', '{{wood}} names no column of this row; there are id, images, style, empty, list'],
    ['{{sytle|plain}} cat', '{{sytle}} names no column of this row; did you mean {{style}}?'],
    ['a {{empty}}', '{{empty}} is empty in this row; give a default with {{empty|text}}'],
    ['a {{list}}', '{{list}} is a list, which cannot stand within a text'],
    ['a {{style.of}}', '{{style.of}} names no column of this row; there are id, images, style, empty, list'],
  ])('refuses a row that cannot fill %s', async (template, message) => {
    const columns = { style: 'oil', empty: '', list: [1] };
    await expect(problemOf(template, columns)).resolves.toEqual([{ column: '--set prompt', message }]);
  });

  it.each(['{{', 'a {{}} b', '{{ }}', '{{|x}}', '{{{style}}}', '{{a{b}}'])(
    'refuses the text %s at once',
    async (text) => {
      await expect(readRows(`id,images\na,${url}\n`, { set: { prompt: text } })).rejects.toThrow(
        /^edits\.csv: --set prompt=…: the \{\{ at character \d+ names no column: write \{\{name\}\}, or \\\{\{ for the text itself$/,
      );
    },
  );

  it('gives a value by itself as it is: numbers, lists and objects of JSONL, a cell of a CSV as every cell', async () => {
    const set = {
      images: '{{pictures}}',
      prompt: 'x',
      'input.seed': '{{seed}}',
      'input.code:text': '{{seed}}',
    };
    const [line] = await readRows(jsonLines({ pictures: [url, url], seed: 7 }), { format: 'jsonl', set });
    const [cell] = await readRows(`pictures,seed\n${url} ${url},7\n`, { set });
    const input = { images: [url, url], prompt: 'x', seed: 7, 'code:text': undefined, code: '7' };
    expect(line?.request).toEqual({ kind: 'edit', input });
    expect(cell?.request).toEqual({ kind: 'edit', input });
    const [text] = await readRows(jsonLines({ seed: '7', images: [url], prompt: 'x' }), {
      format: 'jsonl',
      set,
    });
    expect(text?.request).toMatchObject({ input: { seed: '7' } });
  });

  it('finds a column by its own name and by the field that --map reads from it', async () => {
    const [row] = await readRows(`sku,images,size\na,${url},2k\n`, {
      map: { id: 'sku', resolution: 'size' },
      set: { prompt: '{{id}} {{sku}} {{resolution}} {{size}}' },
    });
    expect(row?.cells['prompt']).toBe('a a 2k 2k');
  });

  it('asks nothing of rows that do not send the field', async () => {
    const rows = await readRows(
      jsonLines(
        { id: 'e', kind: 'edit', images: [url], style: 'oil' },
        { id: 'j', kind: 'job', input: { a: 1 } },
        { id: 'c', jobId: 'job-1' },
      ),
      { format: 'jsonl', set: { prompt: '{{style}} cat' } },
    );
    expect(rows.map(({ id }) => id)).toEqual(['e', 'j', 'c']);
  });

  it('names a path below input or body that cannot be filled, and lets a row have its own', async () => {
    const set = { 'input.style': '{{sytle}}' };
    const settings = { format: 'jsonl', set } as const;
    const own = { id: 'a', input: { style: 'ink' } };
    const [row] = await readRows(jsonLines(own), settings);
    expect(row?.request).toEqual({ kind: 'job', input: { style: 'ink' } });
    const [invalid] = await readInvalid(jsonLines({ id: 'b', input: { n: 1 }, style: 'oil' }), settings);
    expect(invalid?.problems).toEqual([
      {
        column: '--set input.style',
        message: '{{sytle}} names no column of this row; did you mean {{style}}?',
      },
    ]);
    expect(invalid?.cells).toEqual({ id: 'b', input: { n: 1 }, style: 'oil' });
  });

  test.prop([fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== '')])(
    'never reads what it has filled in as another template',
    async (value) => {
      await expect(promptOf('<{{style}}>', { style: value, other: 'no' })).resolves.toBe(`<${value}>`);
      await expect(promptOf('<{{style}}>', { style: `{{other}}${value}`, other: 'no' })).resolves.toBe(
        `<{{other}}${value}>`,
      );
    },
  );

  test.prop([fc.string({ unit: 'grapheme' })])(
    'sends any text whose {{ are escaped as it is',
    async (text) => {
      const escaped = text.replaceAll('{{', '\\{{');
      fc.pre(text.trim() !== '' && !text.includes('\\{{'));
      await expect(promptOf(escaped, {})).resolves.toBe(text);
    },
  );
});
