import { describe, expect, it } from 'vitest';
import { readInvalid, readRows, type TestSettings } from '../../../../support/manifest-items.js';

const url = 'https://example.test/a.png';

async function read(text: string, settings: TestSettings = {}) {
  const printed: string[] = [];
  const rows = await readRows(text, { ...settings, separatedBy: (name) => printed.push(name) });
  return { printed, rows, facts: rows.map(({ id, line, columns }) => ({ id, line, columns })) };
}

describe('a CSV that a European spreadsheet has saved', () => {
  it.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])(
    'is read with %s, which it says, and decimal commas stay as they are [fault 27a]',
    async (name, sign) => {
      const text = [
        ['id', 'images', 'prompt', 'Preis'],
        ['a', url, '"rot; oder blau"', '12,50'],
        ['b', url, 'grün, bitte', '1.000,00'],
      ];
      const { printed, rows, facts } = await read(text.map((cells) => cells.join(sign)).join('\r\n'));
      expect(printed).toEqual([name]);
      expect(facts).toEqual([
        { id: 'a', line: 2, columns: { Preis: '12,50' } },
        { id: 'b', line: 3, columns: { Preis: '1.000,00' } },
      ]);
      expect(rows[0]?.request).toMatchObject({ input: { prompt: 'rot; oder blau', images: [url] } });
    },
  );

  it.each(['sep=;\r\n', 'SEP=;\n', '"sep=;"\r\n', '\ufeffsep=;\r\n'])('may begin with %j', async (first) => {
    const { printed, facts } = await read(`${first}id;images;prompt\r\na;${url};x\r\n`);
    expect(printed).toEqual(['semicolons']);
    expect(facts).toMatchObject([{ id: 'a', line: 3 }]);
  });

  it('may say with sep= what nobody would guess', async () => {
    expect((await read(`sep=|\nid|images|prompt\na|${url}|x\n`)).printed).toEqual(['bars']);
  });

  it.each([
    ['a header of one name', `prompt\n`, []],
    ['commas in it where semicolons set names apart', 'id;images;"Preis, EUR";prompt\n', ['semicolons']],
    ['semicolons in it where commas set names apart', 'id,images,"a;b",prompt\n', []],
    ['no name of a field, but semicolons', 'bild;text\n', ['semicolons']],
    ['quoted names, and empty lines before', '\n\n"id";"images";"prompt"\n', ['semicolons']],
    ['line breaks in a name', 'id;"a\nb";prompt\n', ['semicolons']],
  ])('is told by its header: %s', async (_, text, printed) => {
    expect((await read(text)).printed).toEqual(printed);
  });

  it('is read as --delimiter says, whatever it looks like', async () => {
    const { printed, rows } = await read(`input.a;x,input.b;y\n1,2\n`, { delimiter: ',' });
    expect(printed).toEqual([]);
    expect(rows[0]?.request).toMatchObject({ input: { 'a;x': 1, 'b;y': 2 } });
    expect((await read(`id|input.n\na|1\n`, { delimiter: '|' })).printed).toEqual(['bars']);
  });

  it('names the place of a ragged row, and the sign that belongs in quotes', async () => {
    const [row] = await readInvalid(`sep=;\nid;images;prompt\na;${url};x;y\n`);
    expect([row?.line, row?.problems[0]?.message]).toEqual([
      3,
      expect.stringContaining('put a cell that holds a semicolon in quotes'),
    ]);
  });

  it.each([1, 2, 3, 7])('is read in pieces of %i bytes', async (chunkBytes) => {
    const { facts } = await read(`sep=;\r\n"id";images;prompt\r\na;${url};x\r\n`, { chunkBytes });
    expect(facts).toMatchObject([{ id: 'a', line: 3 }]);
  });
});
