import { fc, test } from '@fast-check/vitest';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, it } from 'vitest';
import { ManifestError } from '../../../../../runners/batch/manifest/manifest-error.js';
import { parseCsv } from '../../../../../runners/batch/manifest/records/parse-csv.js';
import type { RawRecord } from '../../../../../runners/batch/manifest/records/raw-record.js';
import { readUtf8 } from '../../../../../runners/batch/manifest/records/read-utf8.js';
import { inChunks } from '../../../../support/manifest-items.js';

interface Parsed {
  records: RawRecord[];
  error?: ManifestError;
}

async function parse(text: string, size?: number, map?: Record<string, string>): Promise<Parsed> {
  const records: RawRecord[] = [];
  const chunks = readUtf8(inChunks(Buffer.from(text), size), { name: 'edits.csv', gzip: false });
  try {
    for await (const batch of parseCsv(chunks, { name: 'edits.csv', map })) records.push(...batch);
  } catch (error) {
    if (error instanceof ManifestError) return { records, error };
    throw error;
  }
  return { records };
}

const linesAndValues = ({ records }: Parsed): unknown[] =>
  records.map(({ line, values }) => [line, ...values]);

describe('parseCsv', () => {
  it.each([
    ['line feeds', 'id,prompt\na,x\nb,y\n'],
    ['carriage returns and line feeds', 'id,prompt\r\na,x\r\nb,y\r\n'],
    ['lone carriage returns', 'id,prompt\ra,x\rb,y\r'],
    ['a mixture', 'id,prompt\ra,x\r\nb,y\n'],
    ['no final newline', 'id,prompt\na,x\nb,y'],
    ['a byte order mark', '\ufeffid,prompt\na,x\nb,y\n'],
  ])('reads lines that end in %s [fault 22]', async (_, text) => {
    expect(linesAndValues(await parse(text))).toEqual([
      [2, 'a', 'x'],
      [3, 'b', 'y'],
    ]);
  });

  it('finds no rows behind a header alone [fault 22]', async () => {
    expect(await parse('id,prompt\n')).toEqual({ records: [] });
    expect(await parse('id,prompt')).toEqual({ records: [] });
  });

  it('refuses a file of empty lines', async () => {
    expect((await parse('\n\r\n\n')).error?.message).toBe(
      'edits.csv: holds only empty lines: its first line has to name the columns',
    );
  });

  it('counts empty lines, and lines of commas, but takes them for no rows', async () => {
    expect(linesAndValues(await parse('\n\nid,prompt\n\n\na,x\n,\n\r\nb,y\n,\n'))).toEqual([
      [6, 'a', 'x'],
      [9, 'b', 'y'],
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('counts line breaks inside quotes (%j)', async (newline) => {
    const text = ['id,prompt', `a,"x${newline}${newline}y"`, 'b,z', `c,"${newline}"`, 'd,"é"'].join(newline);
    expect(linesAndValues(await parse(text))).toEqual([
      [2, 'a', `x${newline}${newline}y`],
      [5, 'b', 'z'],
      [6, 'c', newline],
      [8, 'd', 'é'],
    ]);
  });

  it('keeps quotes, spaces and commas inside quotes as they are', async () => {
    expect(linesAndValues(await parse('id,prompt\n" a ","x, ""y"""\n'))).toEqual([[2, ' a ', 'x, "y"']]);
  });

  it.each([
    [
      'id,prompt\na,x\nb,"y\nc,z\n',
      3,
      2,
      'line 3, column 2 (prompt): the row that begins here opens a quote that is never closed; inside quotes, write a quote as ""',
    ],
    [
      'id,prompt\n"a" b,x\n',
      2,
      1,
      'line 2, column 1 (id): in the row that begins here, text follows a closing quote; inside quotes, write a quote as ""',
    ],
    [
      'id,prompt\n\na,say "hi"\n',
      3,
      2,
      'line 3, column 2 (prompt): in the row that begins here, a quote stands inside a cell that does not begin with one; put the whole cell in quotes, and inside quotes, write a quote as ""',
    ],
    [
      '"id,prompt\na,x\n',
      1,
      1,
      'line 1, column 1: the row that begins here opens a quote that is never closed; inside quotes, write a quote as ""',
    ],
  ])('refuses unbalanced quotes in %j [fault 23]', async (text, line, column, message) => {
    const { error } = await parse(text);
    expect(error?.message).toBe(`edits.csv, ${message}`);
    expect(error).toMatchObject({ code: 'manifest', line, column });
  });

  it('says which rows have not as many cells as columns, and reads on [fault 23]', async () => {
    const { records } = await parse('id,images,prompt\na\nb,u,make it red, please\nc,u,x\n');
    expect(records.map(({ line, problem }) => [line, problem])).toEqual([
      [
        2,
        {
          column: 'images',
          message: 'has 1 cell, the first line names 3 columns; here and behind it cells are missing',
        },
      ],
      [
        3,
        {
          message:
            'has 4 cells, the first line names 3 columns: cell 4 (" please") has no column; put a cell that holds a comma in quotes',
        },
      ],
      [4, undefined],
    ]);
  });

  it('names the empty column that a spreadsheet does not show', async () => {
    const { records } = await parse('id,prompt\na,x,\n');
    expect(records[0]?.problem?.message).toBe(
      'has 3 cells, the first line names 2 columns: cell 3 ("") has no column; delete the empty column in the spreadsheet, or put a cell that holds a comma in quotes',
    );
  });

  it('says when the first line comes again', async () => {
    const { records } = await parse('id,prompt\na,x\n\ufeffid,prompt\n');
    expect(records[1]?.problem).toEqual({ message: 'repeats the first line, the names of the columns' });
  });

  const noName =
    'the column has no name; name it, or delete the whole column in the spreadsheet (to empty its cells is not enough), or remove the extra separator';
  const above =
    'delete what stands above it in the spreadsheet, and export it again (Numbers: without table names)';
  it.each([
    ['id,,prompt\n', `line 1, column 2: ${noName}`],
    ['id,prompt, \n', `line 1, column 3: ${noName}`],
    ['My edits,,\nid,prompt,images\na,x,y\n', 'line 1: line 2 looks like the names of the columns; '],
    [';;\n"Edits;";May;\nid;prompt;images\n', 'line 1: line 3 looks like the names of the columns; '],
    ['Table 1\n\nid,prompt,images\na,x,y\n', 'line 1: line 3 looks like the names of the columns; '],
    ['Meine Bilder\nid;prompt;images\n', 'line 1: line 2 looks like the names of the columns; '],
    ['\nid,prompt,id\n', 'line 2, column 3: "id" is the name of column 1 too; rename one of them'],
    ['id,__proto__\n', 'line 1, column 2: a column cannot be called "__proto__"; rename it'],
  ])('refuses the header %j [fault 23]', async (text, message) => {
    const found = (await parse(text)).error?.message ?? '';
    expect(message.endsWith('; ') ? found.slice(0, -above.length) : found).toBe(`edits.csv, ${message}`);
    if (message.endsWith('; ')) expect(found.slice(-above.length)).toBe(above);
  });

  it.each(['style\nprompt\nid\n', 'style,look\noil,prompt\n', 'id\nid,prompt\n'])(
    'takes the first line of %j as it is',
    async (text) => {
      expect((await parse(text)).error).toBeUndefined();
    },
  );

  it('refuses more columns than anybody has', async () => {
    const { error } = await parse(`${Array.from({ length: 10_001 }, (_, at) => `c${at}`).join(',')}\n`);
    expect(error?.message).toBe('edits.csv, line 1: names 10001 columns; at most 10000 are read');
  });

  it('refuses --map from a column that is not there', async () => {
    const { error } = await parse('id,Text\n', undefined, { prompt: 'text' });
    expect(error?.message).toBe(
      'edits.csv, line 1: --map prompt=text: there is no column "text", only id, Text',
    );
  });

  it('refuses a row of more than 10 MB [fault 24]', async () => {
    const { records, error } = await parse(`id,prompt\na,x\n\nb,${'x'.repeat(10_000_001)}\n`, 65_536);
    expect(records).toHaveLength(1);
    expect(error?.message).toBe(
      'edits.csv, line 4: the row that begins here is longer than 10 MB; a quote may be missing, or the file is not a CSV',
    );
  });

  it('takes a row of just under 10 MB', async () => {
    const { records } = await parse(`id,prompt\na,"${'x\n'.repeat(4_900_000)}"\nb,y\n`, 65_536);
    expect(records.map(({ line }) => line)).toEqual([2, 4_900_003]);
  });

  it('reads names that objects have of themselves', async () => {
    const { records } = await parse('constructor,toString\na,b\n');
    expect(records[0]).toEqual({ line: 2, names: ['constructor', 'toString'], values: ['a', 'b'] });
  });
});

const nasty = '\ufeffid,prompt\r\n"ä""€😀\r\n\n",x\r\r\n\n,\nb,"\r"\rc\r\nd,"y"\n"unended, "" quote\r\n';

describe('parseCsv of pieces', () => {
  it('finds the same wherever a piece ends', async () => {
    const whole = await parse(nasty);
    expect(linesAndValues(whole)).toEqual([
      [2, 'ä"€😀\r\n\n', 'x'],
      [8, 'b', '\r'],
      [10, 'c'],
      [11, 'd', 'y'],
    ]);
    expect(whole.error?.message).toContain('line 12, column 1 (id): the row that begins here opens a quote');
    for (let size = 1; size <= Buffer.byteLength(nasty); size++) {
      const chunks = await parse(nasty, size);
      expect(chunks.records).toEqual(whole.records);
      expect(chunks.error?.message).toBe(whole.error?.message);
    }
  });

  const cell = fc.string({
    unit: fc.constantFrom('a', 'é', '😀', '"', ',', '\n', '\r', ' ', '\u2028', '\ufeff'),
  });
  test.prop([
    fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 }),
    fc.constantFrom('\n', '\r\n', '\r'),
    fc.integer({ min: 1, max: 40 }),
  ])('reads what a CSV writer writes', async (rows, newline, size) => {
    const filled = rows.filter((row) => row.some((value) => value !== ''));
    const text = stringify([['one', 'two', 'three'], ...filled], { record_delimiter: newline, quoted: true });
    const { records, error } = await parse(text, size);
    expect(error).toBeUndefined();
    expect(records.map(({ values }) => values)).toEqual(filled);
    const breaks = (value: string): number => value.match(/\r\n|\r|\n/g)?.length ?? 0;
    let line = 2;
    for (const [at, record] of records.entries()) {
      expect(record.line).toBe(line);
      line += 1 + (filled[at] ?? []).reduce((sum, value) => sum + breaks(value), 0);
    }
  });
});
