import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { planManifest } from '../../../../../runners/batch/manifest/plan-manifest.js';
import { readManifest } from '../../../../../runners/batch/manifest/read-manifest.js';
import {
  inChunks,
  jsonLines,
  readItems,
  readInvalid,
  readRows,
  type TestSettings,
} from '../../../../support/manifest-items.js';

const url = 'https://e.com/1.png';

async function warnings(text: string, given: TestSettings = {}): Promise<readonly string[]> {
  const settings = { name: 'edits.csv', format: 'csv' as const, gzip: false, endpoint: 'e', ...given };
  const items = readManifest(inChunks(Buffer.from(text)), settings);
  return (await planManifest(items, { priceOf: () => 1 })).warnings;
}

const promptOf = (prompt: string): string =>
  `id,images,prompt\na,${url},x\nb,${url},"${prompt.replaceAll('"', '""')}"\n`;

describe('an error value of a spreadsheet as a whole cell [fault 26]', () => {
  it.each([
    ...['#N/A', '#REF!', '#NAME?', '#VALUE!', '#DIV/0!', '#NUM!', '#NULL!', '#SPILL!', '#CALC!', '#ERROR!'],
    ...['#NV', '#WERT!', '#WERT', '#BEZUG!', '#ÜBERLAUF!', '#VALEUR!', '#NOM?', '#¡VALOR!', '#¿NOMBRE?'],
    ...[
      '#WAARDE!',
      '#N/B',
      '#ARG!',
      '#VÄRDEFEL!',
      '#SAKNAS!',
      '#I/T',
      '#ЗНАЧ!',
      '#Н/Д',
      '#DEĞER!',
      '#PUUTTUU!',
    ],
    ...['Err:502', 'Err:509', 'Err :522', ' #N/A ', '#n/a', '########'],
  ])('is refused as a prompt: %s', async (value) => {
    const [row, ...others] = await readInvalid(promptOf(value));
    expect(others).toEqual([]);
    expect(row).toMatchObject({ row: 2, line: 3, id: 'b', problems: [{ column: 'prompt' }] });
    expect(row?.problems[0]?.message).toMatch(
      /^".*" is what a spreadsheet shows where it has no value; correct the cell there and export it again, or write/,
    );
  });

  it.each([
    '#wow',
    '#NAME',
    '# A title',
    '#1',
    '##',
    '###',
    'Err: a sign',
    'a sign that reads #N/A',
    '#N/A and more',
  ])('is not a text that only looks like one: %s', async (value) => {
    expect(await readRows(promptOf(value))).toHaveLength(2);
  });

  it('is the only problem that its cell has', async () => {
    const text = `id,images,prompt,resolution\na,#N/A,x,\nb,${url},x,#REF!\n#REF!,${url},x,\n#REF!,${url},y,\n`;
    const invalid = await readInvalid(text);
    expect(invalid.map(({ line, problems }) => [line, problems.map(({ column }) => column)])).toEqual([
      [2, ['images']],
      [3, ['resolution']],
      [4, ['id']],
      [5, ['id']],
    ]);
    for (const { problems } of invalid) expect(problems[0]?.message).toContain('a spreadsheet');
  });

  it('names the column of the manifest', async () => {
    const [row] = await readInvalid(`id,images,Text\na,${url},#N/A\n`, { map: { prompt: 'Text' } });
    expect(row?.problems).toMatchObject([{ column: 'Text' }]);
  });

  it('is refused in columns of an input and in those that fill a text', async () => {
    const [job] = await readInvalid('id,input.name,input\na,#N/A,\n');
    expect(job?.problems).toMatchObject([{ column: 'input.name' }]);
    const [filled] = await readInvalid(`id,images,style\na,${url},#N/A\n`, {
      set: { prompt: 'In {{style}}' },
    });
    expect(filled?.problems).toMatchObject([{ column: '--set prompt' }]);
    expect(filled?.problems[0]?.message).toMatch(/^\{\{style\}\}: "#N\/A" is what a spreadsheet/);
  });

  it('is left alone where it is not sent, and in JSONL', async () => {
    expect(await readRows(`id,images,prompt,price\na,${url},x,#N/A\n`)).toHaveLength(1);
    expect(await readRows('id,kind,input.x,images\na,job,1,#N/A\n')).toHaveLength(1);
    const lines = jsonLines({ id: '#N/A', images: url, prompt: '#REF!' });
    expect(await readRows(lines, { format: 'jsonl' })).toHaveLength(1);
  });
});

describe('a text that looks damaged is sent, with a warning [fault 26]', () => {
  it.each([
    ['GrÃ¼ÃŸe', 'encoding'],
    ['a sailorâ€™s boat', 'encoding'],
    ['a lost \ufffd letter', 'encoding'],
    ['voilÃ\u00a0 un chat', 'encoding'],
    ['Ð¿Ñ€Ð¸Ð²ÐµÑ‚', 'encoding'],
    ['æ—¥æœ¬èªž', 'encoding'],
    ['party ðŸŽ‰', 'encoding'],
    ['zÅ‚oty', 'encoding'],
    ['Gr√º√üe', 'encoding'],
    ['a na√Øve K√∂nig', 'encoding'],
    ['sch√∂n', 'encoding'],
    ['a sailor‚Äôs boat', 'encoding'],
    ['??? ?????', 'encoding'],
    ['=SUM(E2:E4)', 'formula'],
    ['=A2&" in oil"', 'formula'],
    ['="A cat in "&B2', 'formula'],
    ["='My sheet'!B3", 'formula'],
    ['=Sheet1!B3', 'formula'],
    ['=WENN(A2="";"";B2)', 'formula'],
    ["'-5 degrees", 'escaped'],
    ["'=1 of 3", 'escaped'],
    ['0', 'zero'],
    ['=_xlfn.TEXTJOIN(" ",TRUE,A2:C2)', 'formula'],
  ])('%s: %s', async (prompt, damage) => {
    const [, row] = await readRows(promptOf(prompt));
    expect(row?.notes).toMatchObject([{ column: 'prompt', damage }]);
    const lines = jsonLines({ images: url, prompt });
    expect((await readRows(lines, { format: 'jsonl' }))[0]?.notes).toMatchObject([{ damage }]);
  });

  it.each([
    'Grüße aus Köln, „viel Spaß“ – »MENÜ«, CAFÉ…',
    'voilà… un château, l’été',
    'SÃO PAULO, AMANHÃ” e IRMÃ–',
    'chữ “Â” trong “Ân”, litera „Â” și Â…',
    'fiancé…” he said, ‚Äpfel‘',
    'Привет, мир; 日本語; 안녕; שלום; √2 + √π',
    'party 🎉',
    'what is this??',
    '= a title =',
    '=> an arrow',
    '=^.^= a cat',
    'x = E2',
    '100% wool, 0,5 l',
    '1.23457E+15',
    '00',
    '0 people',
  ])('nothing is said of %s', async (prompt) => {
    const [, row] = await readRows(promptOf(prompt));
    expect(row?.notes).toBeUndefined();
  });

  it('reads a long text of signs and blanks once', async () => {
    const text = `=${' '.repeat(300_000)}x`;
    expect((await readRows(promptOf(text)))[1]?.notes).toBeUndefined();
  });

  it('names the first row of each kind, whatever the order of rows', async () => {
    const text = `id,images,prompt\na,${url},x\nb,${url},GrÃ¼ÃŸe\n1.23457E+15,${url},=A1\nd,${url},Ã¼ber\n`;
    const found = await warnings(text);
    expect(found).toEqual([
      expect.stringMatching(
        /^2 rows have text with garbled or lost characters, first in line 3 \(row 2, id "b"\), column prompt: "GrÃ¼ÃŸe"; .* as UTF-8 .*save it as CSV in UTF-8/,
      ),
      expect.stringMatching(
        /^1 row has an id that looks like a long number which a spreadsheet has rounded, in line 4 \(row 3, id "1.23457E\+15"\), column id: /,
      ),
      expect.stringMatching(
        /^1 row has what looks like a formula of a spreadsheet, .*, column prompt: "=A1"; export values/,
      ),
    ]);
    const items = (await readItems(text)).toReversed();
    expect((await planManifest(Readable.from(items), { priceOf: () => 1 })).warnings.toSorted()).toEqual(
      found.toSorted(),
    );
  });

  it('quotes the part of a long text that is garbled', async () => {
    const [warning] = await warnings(promptOf(`${'a quiet harbour '.repeat(20)}with GrÃ¼ÃŸe`));
    expect(warning).toContain('"…uiet harbour with GrÃ¼ÃŸe"');
  });

  it.each(['0,5', '1.234,56', '50%', '1.23E+05', 'TRUE', 'Wahr', '0.50'])(
    'warns of a number or truth value that is sent as text: %s',
    async (value) => {
      const [row] = await readRows(`id,input.x\na,"${value}"\n`);
      expect(row?.notes).toMatchObject([{ column: 'input.x', damage: 'typed' }]);
      expect((await readRows(`id,input.x:text\na,"${value}"\n`))[0]?.notes).toBeUndefined();
      const lines = jsonLines({ id: 'a', 'input.x': value });
      expect((await readRows(lines, { format: 'jsonl' }))[0]?.notes).toBeUndefined();
    },
  );

  it.each(['0', '0.5', 'true', '12', '007', '1k', '2026-03-05', 'a, b', '16:9'])(
    'does not warn of %s there',
    async (value) => {
      expect((await readRows(`id,input.x\na,"${value}"\n`))[0]?.notes).toBeUndefined();
    },
  );

  it('looks at columns that fill a text, and at no others of the user', async () => {
    const text = `id,images,style,title\na,${url},Ã¼ber,GrÃ¼ÃŸe\n`;
    const [row] = await readRows(text, { set: { prompt: 'In {{style}}' } });
    expect(row?.notes).toMatchObject([{ column: 'style' }]);
  });

  it('looks into the values of JSONL', async () => {
    const lines = jsonLines({ id: 'a', input: { texts: [{ de: 'GrÃ¼ÃŸe' }] } });
    expect((await readRows(lines, { format: 'jsonl' }))[0]?.notes).toMatchObject([
      { column: 'input', damage: 'encoding', text: expect.stringContaining('GrÃ¼ÃŸe') as string },
    ]);
  });
});
