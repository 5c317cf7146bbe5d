import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawPicture } from '../../../support/draw-picture.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace report', () => {
  let work: Rehearsal;
  let ran: string;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('rows.jsonl', echoJobs(2));
    ran = (await work.call('run', 'rows.jsonl')).stdout;
  });
  afterEach(() => work.close());

  it('is the next thing to open, and is not said to have pictures where there are none', async () => {
    const next = '  next         open rows.out/report.html to look at the results\n';
    expect(ran).toContain(next);
    await rm(join(work.folder, 'rows.out'), { recursive: true });
    // Jobs that cost something have no pictures either.
    expect((await work.call('run', 'rows.jsonl', '--yes', '--assume-price', '0.01')).stdout).toContain(next);
    await rm(join(work.folder, 'rows.out'), { recursive: true });
    await work.write('prices.json', ['{"endpoints":{"echo":{"usdPerPicture":{"1k":0.01}}}}']);
    expect((await work.call('run', 'rows.jsonl', '--yes', '--prices', 'prices.json')).stdout).toContain(next);
  });

  it('writes again what the run wrote at its end', async () => {
    expect((await work.everything('rows.out')).has(join(work.folder, 'rows.out', 'report.html'))).toBe(true);
    await rm(join(work.folder, 'rows.out', 'report.html'));
    expect(await work.call('report', 'rows.out')).toMatchObject({
      code: 0,
      stdout: 'rows.out/report.html: 2 rows\n',
      stderr: '',
    });
    const html = (await work.everything('rows.out')).get(join(work.folder, 'rows.out', 'report.html'));
    expect(html).toContain('<html');
    expect(html).not.toContain(work.emulator.apiKey);
  });

  it('says that workers may have bought what it lacks, where the run has ended before them', async () => {
    const database = 'postgres://db.example/millrace';
    const keepNote = (isOpen: boolean) =>
      work.write('rows.out/distributed.json', [JSON.stringify({ key: 'a-run', database, isOpen })]);
    await keepNote(true);
    const text = `note: workers may have bought more rows, whose records are only in the database so far (${database}): the report lacks them until a start with --db copies them\n`;
    expect(await work.call('report', 'rows.out')).toMatchObject({ code: 0, stderr: text });
    await keepNote(false);
    expect(await work.call('report', 'rows.out')).toMatchObject({ code: 0, stderr: '' });
  });

  it('fetches references that lie on the web where that is asked for, and buys nothing', async () => {
    await writeFile(join(work.folder, 'mug.png'), await drawPicture({ subject: 0, width: 64, height: 64 }));
    const url = work.emulator.fileUrl('mug.png') as string;
    await work.write('edits.csv', ['id,images,prompt', `a,${url},grayscale`, `b,${url},flip`]);
    expect((await work.call('run', 'edits.csv', '--endpoint', 'image-edit')).code).toBe(0);
    const bought = work.emulator.bill().length;
    const copies = async () =>
      (await readdir(join(work.folder, 'edits.out', 'thumbnails'))).filter((name) =>
        /^reference-/.test(name),
      );
    expect(await copies()).toEqual([]);
    const { code, stdout, stderr } = await work.call('report', 'edits.out', '--fetch-references');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'edits.out/report.html: 2 rows\n',
      stderr: '1 reference fetched\n',
    });
    expect(await copies()).toHaveLength(1);
    await rm(join(work.folder, 'mug.png'));
    await rm(join(work.folder, 'edits.out', 'thumbnails'), { recursive: true });
    const gone = await work.call('report', 'edits.out', '--fetch-references');
    expect(gone.code).toBe(0);
    expect(gone.stderr).toMatch(
      /^0 references fetched\nwarning: 1 reference could not be fetched: .*HTTP 404\n$/,
    );
    expect(work.emulator.bill()).toHaveLength(bought);
  });

  it('wants a folder with a run in it', async () => {
    expect((await work.call('report', 'nowhere')).code).toBe(2);
  });
});
