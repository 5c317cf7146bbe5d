import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { readCsv } from '../../../../runners/report/read/read-csv.js';
import { collect } from '../../../support/collect.js';
import { reportFolder } from '../../../support/report-folder.js';

async function read(text: string): Promise<Readonly<Record<string, string>>[]> {
  const folder = await reportFolder({ 'a.csv': text });
  return (await collect(readCsv(nodeDisk, join(folder, 'a.csv')))).map(({ cells }) => cells);
}

describe('readCsv', () => {
  it('reads what a CSV writer writes', async () => {
    const folder = await reportFolder();
    const path = join(folder, 'a.csv');
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', 'é', ';', '\t') });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constant('x'), cell, cell), { minLength: 1 }), async (rows) => {
        await writeFile(
          path,
          stringify([['x', 'one', 'two'], ...rows], {
            record_delimiter: 'windows',
            quoted_match: /[\r\n;\t]/,
          }),
        );
        const found = await collect(readCsv(nodeDisk, path));
        expect(found.map(({ cells: { x, one, two } }) => [x, one, two])).toEqual(rows);
      }),
      { numRuns: 60 },
    );
  });

  it('takes the separator of a spreadsheet of another country', async () => {
    expect(await read('\uFEFFid;amount\r\n1;0,5\r\n')).toEqual([{ id: '1', amount: '0,5' }]);
    expect(await read('id\tamount\n1\t0.5')).toEqual([{ id: '1', amount: '0.5' }]);
  });

  it('takes the separator that a first line names, and counts that line', async () => {
    const folder = await reportFolder({ 'a.csv': '\uFEFFsep=;\r\nid;amount, in USD\r\n1;0,5\r\n' });
    expect(await collect(readCsv(nodeDisk, join(folder, 'a.csv')))).toEqual([
      { line: 3, cells: { id: '1', 'amount, in USD': '0,5' } },
    ]);
    expect(await read('"sep=|"\na|b,c\n1|2')).toEqual([{ a: '1', 'b,c': '2' }]);
    expect(await read('sep=;')).toEqual([]);
    // A column of that name is one.
    expect(await read('a,sep=;\n1,2')).toEqual([{ a: '1', 'sep=;': '2' }]);
  });

  it('gives absent cells as empty and passes over empty lines', async () => {
    expect(await read('a,b\n1\n\n2,3\n')).toEqual([
      { a: '1', b: '' },
      { a: '2', b: '3' },
    ]);
  });

  it('names the line in which each row begins, and the one of a quote that stays open', async () => {
    const folder = await reportFolder({ 'a.csv': 'a,b\n1,"x\ny"\n\n2,z\n3,"open\n4,w\n' });
    const unended: number[] = [];
    const rows = await collect(readCsv(nodeDisk, join(folder, 'a.csv'), (line) => unended.push(line)));
    expect(rows.map(({ line, cells }) => [line, cells['a']])).toEqual([
      [2, '1'],
      [5, '2'],
    ]);
    expect(unended).toEqual([6]);
  });

  it('joins a row that goes on in the next blocks of the file, and counts its lines', async () => {
    const long = Array.from({ length: 30_000 }, (_, n) => `${n}${'x'.repeat(400)}\r\n`).join('');
    const folder = await reportFolder({ 'a.csv': `a,b\r\n1,"${long}"\r\n2,"say ""so"""\r\n,\r\n` });
    const rows = await collect(readCsv(nodeDisk, join(folder, 'a.csv')));
    expect(rows.map(({ line, cells }) => [line, cells['a']])).toEqual([
      [2, '1'],
      [30_003, '2'],
      [30_004, ''],
    ]);
    expect(rows[0]?.cells['b'] === long).toBe(true);
    expect(rows[1]?.cells['b']).toBe('say "so"');
  });

  it('is empty when the file is missing', async () => {
    expect(await collect(readCsv(nodeDisk, '/nowhere/at/all.csv'))).toEqual([]);
  });
});
