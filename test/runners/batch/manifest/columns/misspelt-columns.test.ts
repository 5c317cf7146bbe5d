import { describe, expect, it } from 'vitest';
import { isFieldName } from '../../../../../runners/batch/manifest/columns/manifest-fields.js';
import { ManifestError } from '../../../../../runners/batch/manifest/manifest-error.js';
import {
  jsonLines,
  readInvalid,
  readItems,
  readRows,
  type TestSettings,
} from '../../../../support/manifest-items.js';

const url = 'https://example.test/a.png';
const edits = (column: string, more = '') =>
  `id,images,prompt,${column}${more}\na,${url},x,4k${more && ',1'}\n`;

async function refused(text: string, settings: TestSettings = {}): Promise<string> {
  const error: unknown = await readItems(text, settings).catch((thrown: unknown) => thrown);
  if (!(error instanceof ManifestError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
  return error.message;
}

/** Columns that spreadsheets of pictures, shops and jobs have, none of which millrace understands. */
const ordinary = `
  title name Name sku SKU article number No. Nr Nummer ean gtin isbn product category brand model colour color size Size
  width height format Format file filename File Name folder path url link source photo foto picture bild thumbnail caption
  description Beschreibung note notes comment comments remark text label tags keywords language lang locale country city
  address client customer project campaign batch group set series season year month date Date created updated modified
  due status state done approved rating score rank priority weight price Preis cost amount currency quantity qty stock
  seed steps strength style theme mood scene room body_type material fabric pattern font author artist owner user email
  phone department team version revision solution evolution resolution_note ratio dpi ppi depth quality job_id jobs ref
  reference parent child root rote boot mod period endpoint_note point kinds idx uid uuid guid hash checksum Material`
  .trim()
  .split(/\s+/)
  // A column that is understood one day is no longer an ordinary one.
  .filter((name) => !isFieldName(name));

describe('a column that looks like a field that is absent', () => {
  it.each([
    ['resolutoin', 'resolution'],
    ['Resolution', 'resolution'],
    ['resulotion', 'resolution'],
    ['aspect-ratio', 'aspect_ratio'],
    ['outputFormat', 'output_format'],
    ['input.resolutoin', 'resolution'],
    ['endpoints', 'endpoint'],
  ])('%s is refused in a CSV, with its place and what to do', async (column, field) => {
    const message = await refused(edits(column));
    expect(message).toContain(`column 4 ("${column}") is `);
    expect(message).toContain(`looks like "${field}", for which there is no column`);
    expect(message).toContain(`--ignore ${column}`);
    expect(await readRows(edits(column), { ignore: [column] })).toHaveLength(1);
  });

  it.each([
    ['id,inputs.prompt,input.n', 'a,x,1', 'input.prompt'],
    ['id,Input,input.n', 'a,{},1', 'input'],
    ['id,rout,route', 'a,x,/r', undefined],
    ['id,route,bodi.x', 'a,/r,1', undefined],
    ['id,route,Method', 'a,/r,GET', 'method'],
    ['ID,input.n', 'a,1', 'id'],
  ])('%s: by what its rows can send', async (names, row, field) => {
    const text = `${names}\n${row}\n`;
    if (field === undefined) expect(await readItems(text)).toHaveLength(1);
    else expect(await refused(text)).toContain(`looks like "${field}", for which there is no column`);
  });

  it('is refused where several are, all at once', async () => {
    expect(await refused(edits('resolutoin', ',Endpoint'))).toMatch(/column 4 .*; column 5 /);
  });

  it('is taken where --map or --set gives the field, or the field is there', async () => {
    const text = edits('Resolution');
    expect((await readRows(text, { map: { resolution: 'Resolution' } }))[0]?.resolution).toBe('4k');
    expect((await readRows(text, { set: { resolution: '2k' } }))[0]?.resolution).toBe('2k');
    expect(await readRows(edits('Resolution', ',input.resolution').replace(',1\n', ',2k\n'))).toHaveLength(1);
    expect(await readRows(`id,images,prompt,resolution,Resolution\na,${url},x,,4k\n`)).toHaveLength(1);
  });

  it('is refused line by line in JSON, with the column', async () => {
    const row = { images: url, prompt: 'x' };
    const text = jsonLines({ id: 'a', ...row }, { id: 'b', ...row, resolutoin: '4k' }, { id: 'c', ...row });
    const invalid = await readInvalid(text, { format: 'jsonl' });
    expect(invalid.map(({ line, problems }) => [line, problems[0]?.column])).toEqual([[2, 'resolutoin']]);
    expect(invalid[0]?.ownColumns).toEqual([]);
    expect(await readRows(text, { format: 'jsonl', ignore: ['resolutoin'] })).toHaveLength(3);
  });

  it(`leaves ${ordinary.length} ordinary columns alone, in rows of each kind`, async () => {
    const kinds = [
      ['id,images,prompt', `a,${url},x`],
      ['id,input.text', 'a,x'],
      ['id,route,body.n', 'a,/r,1'],
    ] as const;
    for (const [names, row] of kinds) {
      const text = `${names},${[...new Set(ordinary)].join(',')}\n${row}${',v'.repeat(new Set(ordinary).size)}\n`;
      expect(await readRows(text)).toHaveLength(1);
    }
  });
});
