import { mkdir, mkdtemp, readdir, readFile, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { chosenList, type ChosenRow } from '../../../../runners/report/pick/chosen-list.js';
import { makeRun } from '../../../support/make-run.js';
import { millrace } from '../../../support/millrace.js';

let folder: string;
let results: { id: string; row: number; jobId: string; image: { path: string } }[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-pick-'));
  const out = join(folder, 'edits.out');
  await makeRun({ folder: out, rows: 12, pictures: false, earlierEvery: 6, hostile: '' });
  const lines = (await readFile(join(out, 'results.jsonl'), 'utf8')).trimEnd().split('\n');
  results = lines.map((line) => JSON.parse(line) as (typeof results)[number]);
  for (const { image } of results) await writeFile(join(out, image.path), `picture of ${image.path}`);
  for (const line of (await readFile(join(out, 'earlier.jsonl'), 'utf8')).trimEnd().split('\n')) {
    const { image } = JSON.parse(line) as (typeof results)[number];
    await writeFile(join(out, image.path), `earlier ${image.path}`);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => mkdir(join(folder, 'home', 'Downloads'), { recursive: true }));
afterEach(async () => {
  for (const name of ['home', 'chosen', join('edits.out', 'chosen'), 'edits.chosen.csv', 'mine.csv'])
    await rm(join(folder, name), { recursive: true, force: true });
});

const pick = (...args: string[]) =>
  millrace(['pick', 'edits.out', ...args], { cwd: folder, env: { HOME: join(folder, 'home') } });
const chosenOf = (...places: number[]): ChosenRow[] =>
  places.map((place) => ({ ...results[place]!, file: results[place]!.image.path }));
const write = (name: string, rows: readonly ChosenRow[]) => writeFile(join(folder, name), chosenList(rows));
const copies = (name = join('edits.out', 'chosen')) => readdir(join(folder, name));

describe('millrace pick', () => {
  it('copies the pictures of the list that the report saved, and writes it beside them', async () => {
    await write('home/Downloads/edits.chosen.csv', chosenOf(0, 2));
    const { code, stdout, stderr } = await pick();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')[0]).toBe(
      '2 pictures copied to edits.out/chosen; the list beside them: chosen.csv',
    );
    const [one, other] = [results[0]!, results[2]!].map(({ image }) => image.path.replace('images/', ''));
    expect(await copies()).toEqual([one, 'chosen.csv', other].sort());
    expect(await readFile(join(folder, 'edits.out', 'chosen', one!), 'utf8')).toBe(
      `picture of images/${one}`,
    );
    const list = await readFile(join(folder, 'edits.out', 'chosen', 'chosen.csv'), 'utf8');
    expect(list.split('\r\n')[1]).toContain(`${results[0]!.id},1,${one},`);
  });

  it('takes the newest list of this run, also one that a browser has numbered, and says which', async () => {
    await write('edits.chosen.csv', chosenOf(0));
    await write('home/Downloads/edits.chosen (1).csv', chosenOf(1));
    await utimes(join(folder, 'edits.chosen.csv'), new Date(1e12), new Date(1e12));
    await write('home/Downloads/edits.chosen (2).csv', [
      { ...chosenOf(2)[0]!, id: 'another-run', jobId: 'x' },
    ]);
    const { code, stdout } = await pick();
    expect(code).toBe(0);
    expect(stdout).toContain('home/Downloads/edits.chosen (1).csv');
    expect(await copies()).toContain(results[1]!.image.path.replace('images/', ''));
  });

  it('does nothing twice, and leaves a file of another content where it is', async () => {
    await write('edits.chosen.csv', chosenOf(0));
    const name = results[0]!.image.path.replace('images/', '');
    await mkdir(join(folder, 'chosen'));
    await writeFile(join(folder, 'chosen', name), 'mine');
    await writeFile(join(folder, 'chosen', 'chosen.csv'), 'mine');
    await pick('--to', 'chosen');
    const { stdout } = await pick('--to', 'chosen');
    expect(stdout).toContain(
      '0 pictures copied to chosen, 1 was there already; the list beside them: chosen-2.csv',
    );
    expect(stdout).toContain('2 other files in that folder are not in this list');
    expect(await readFile(join(folder, 'chosen', name), 'utf8')).toBe('mine');
    expect(await copies('chosen')).toEqual(
      [name, name.replace('.', '-2.'), 'chosen.csv', 'chosen-2.csv'].sort(),
    );
  });

  it('copies the version that was chosen, although the row was bought again', async () => {
    const earlier = (await readFile(join(folder, 'edits.out', 'earlier.jsonl'), 'utf8')).split('\n')[0]!;
    const old = JSON.parse(earlier) as (typeof results)[number];
    await write('edits.chosen.csv', [{ ...old, file: '' }]);
    await pick();
    expect(await copies()).toContain(old.image.path.replace('images/', ''));
  });

  it('takes a list of ids that a person has written', async () => {
    await writeFile(join(folder, 'mine.csv'), `id\n${results[3]!.id}\n`);
    expect((await pick('mine.csv')).code).toBe(0);
    expect(await copies()).toHaveLength(2);
  });

  it('names what is not there, and exits 1', async () => {
    await write('edits.chosen.csv', [...chosenOf(4, 5), { ...chosenOf(0)[0]!, id: '\u001b[31mstranger' }]);
    const gone = join(folder, 'edits.out', results[4]!.image.path);
    await unlink(gone);
    const { code, stdout, stderr } = await pick('--json');
    await writeFile(gone, 'x');
    expect(code).toBe(1);
    expect(stderr).toContain(`${results[4]!.id}; download: millrace refetch edits.out`);
    expect(stderr).toContain('1 row of the list is not a result of this run: stranger');
    expect(JSON.parse(stdout)).toMatchObject({ missing: [results[4]!.id], others: 0, list: 'chosen.csv' });
  });

  it('refuses a list of another run, a missing one, and a folder that is a file, before it writes', async () => {
    await write('mine.csv', [{ id: 'x', row: 1, file: 'images/x.png', jobId: 'other' }]);
    expect(await pick('mine.csv')).toMatchObject({ code: 2, stdout: '' });
    expect((await pick('mine.csv')).stderr).toContain(
      '"mine.csv" is not a list of this run: it names 1 row, and none is a result of edits.out',
    );
    expect((await pick('gone.csv')).stderr).toContain('"gone.csv": there is no such file');
    const { code, stderr } = await pick();
    expect(code).toBe(2);
    expect(stderr).toContain('edits.chosen.csv is not in edits.out, ., home/Downloads');
    expect(stderr).toContain('choose "Save chosen.csv" there');
    await write('edits.chosen.csv', chosenOf(0));
    expect((await pick('--to', 'edits.chosen.csv')).stderr).toContain('is a file: name a folder');
    expect(await readdir(join(folder, 'edits.out'))).not.toContain('chosen');
  });

  it('never leaves the folder of the run, whatever a list or a result says', async () => {
    const out = join(folder, 'edits.out');
    const before = await readFile(join(out, 'results.jsonl'), 'utf8');
    await writeFile(join(folder, 'secret'), 'secret');
    const evil = { ...results[0]!, id: 'evil', jobId: 'e', image: { path: '../secret' } };
    await writeFile(join(out, 'results.jsonl'), `${before}${JSON.stringify(evil)}\n`);
    await write('edits.chosen.csv', [{ id: 'evil', row: 99, file: '../../x', jobId: 'e' }]);
    const { code, stderr } = await pick();
    await writeFile(join(out, 'results.jsonl'), before);
    expect(code).toBe(1);
    expect(stderr).toContain('1 picture of the list is not on this disk: evil');
    expect(await copies()).toEqual(['chosen.csv']);
  });
});
