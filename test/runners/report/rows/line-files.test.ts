import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { thumbnailPath } from '../../../../runners/batch/artifacts/write-thumbnail.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import type { LineFacts, PageRow } from '../../../../runners/report/page-data.js';
import { pageRows } from '../../../../runners/report/rows/page-rows.js';
import { manifestFoldersOf, RunPictures } from '../../../../runners/report/rows/run-pictures.js';
import { writeRowFiles } from '../../../../runners/report/rows/row-files.js';
import { rowsOfLines } from '../../../../runners/report/rows/rows-of-lines.js';
import { surveyRun } from '../../../../runners/report/survey/survey-run.js';
import { makeRun } from '../../../support/make-run.js';
import { reportFolder } from '../../../support/report-folder.js';

/** What a browser has of the files: each runs as a script of its own. */
async function loaded(folder: string, isLocal: boolean): Promise<PageRow[]> {
  const rows: PageRow[] = [];
  const report = join(folder, 'report');
  for (const name of (await readdir(report)).sort()) {
    let calls = 0;
    const millraceRows = (_: string, file: number, json: string, lines: string): void => {
      calls++;
      expect(name).toBe(`page-${String(file + 1).padStart(4, '0')}.js`);
      const ofFile = rowsOfLines(JSON.parse(json) as LineFacts, lines, isLocal);
      for (let place = 0; place < ofFile.count; place++) rows.push(ofFile.at(place)!);
    };
    const context = { millraceRows, broken: 0 };
    runInNewContext(await readFile(join(report, name), 'utf8'), context);
    expect([calls, context.broken, Object.keys(context)]).toEqual([1, 0, ['millraceRows', 'broken']]);
  }
  return rows;
}

/** The rows of the files, those that are made of the same lines at once, and how many pictures were counted as plain. */
async function both(folder: string) {
  const survey = await surveyRun(nodeDisk, folder);
  const open = () =>
    RunPictures.open({
      disk: nodeDisk,
      folder,
      manifestFolders: manifestFoldersOf(survey),
      mayMake: 0,
    });
  const [shelf, other] = [await open(), await open()];
  await writeRowFiles(nodeDisk, survey, shelf);
  const made: PageRow[] = [];
  for await (const rows of pageRows(nodeDisk, survey, other)) made.push(...rows);
  const written = JSON.parse(JSON.stringify(made)) as PageRow[];
  return { found: await loaded(folder, survey.isRehearsal), written, plain: [shelf.plain, other.plain] };
}

const asJson = (rows: readonly PageRow[]): unknown => JSON.parse(JSON.stringify(rows));

describe('the files of rows beside a large report', () => {
  it('hand over the rows that their lines make, with thumbnails, references and earlier pictures', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 320, earlierEvery: 40 });
    await mkdir(join(folder, 'thumbnails'));
    const lines = (await readFile(join(folder, 'results.jsonl'), 'utf8')).trim().split('\n').slice(0, 200);
    for (const line of lines) {
      const { image } = JSON.parse(line) as { image: { path: string; sha256: string } };
      await writeFile(join(folder, thumbnailPath(image)), '');
    }
    // A small copy of a reference on the web, as --fetch-references saves it.
    const url = createHash('sha256').update('https://pictures.example.test/lamp.png').digest('hex');
    await writeFile(join(folder, 'thumbnails', `reference-${url.slice(0, 16)}.webp`), '');
    const { found, written, plain } = await both(folder);
    expect(found).toHaveLength(320);
    expect(asJson(found)).toEqual(written);
    expect(plain[0]).toBe(plain[1]);
    expect(found.filter(({ earlier }) => earlier !== undefined).length).toBeGreaterThan(5);
    expect(found.some(({ picture }) => picture?.thumb?.startsWith('thumbnails/'))).toBe(true);
    expect(found.some(({ references }) => references[0]?.path?.endsWith('.png'))).toBe(true);
    expect(found.some(({ references: [one] }) => one?.url !== undefined && one.thumb !== undefined)).toBe(
      true,
    );
  });

  it.each([
    '`+broken+`',
    '${broken++}',
    '\\',
    '\\`',
    '\\${broken++}',
    '$',
    '$\u007bbroken++}\u2028\u2029',
    '</script><!--',
    '\r\n\t\u0000',
    'é😀`',
  ])('run no code that stands in a line: %j', async (hostile) => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 30, pictures: false, hostile, earlierEvery: 7 });
    const { found, written } = await both(folder);
    expect(asJson(found)).toEqual(written);
  });

  it('shorten long lines, and take white space of another writer', async () => {
    const folder = await reportFolder();
    const line = { id: 'a', row: 1, kind: 'job', output: 'x'.repeat(20_000), request: { input: {} } };
    await writeFile(
      join(folder, 'results.jsonl'),
      [
        JSON.stringify(line),
        '{"id":"b",\r"row":2,"kind":"job","output":"`","request":{"input":{}}}\r',
        JSON.stringify({ id: '__proto__', row: 3, kind: 'job', columns: { ['__proto__']: 1 } }),
      ].join('\n'),
    );
    await appendFile(join(folder, 'results.jsonl'), '\n');
    const { found, written } = await both(folder);
    expect(asJson(found)).toEqual(written);
    expect(found.map(({ id, output }) => [id, output?.length])).toEqual([
      ['a', 1501],
      ['b', 1],
      ['__proto__', undefined],
    ]);
    expect((await readFile(join(folder, 'report', 'page-0001.js'))).length).toBeLessThan(5_000);
  });
});
