import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Disk } from '../../../runners/batch/disk/disk.js';
import { nodeDisk } from '../../../runners/batch/disk/node-disk.js';
import { writeReport } from '../../../runners/report/write-report.js';
import { makeRun } from '../../support/make-run.js';
import { pageParts } from '../../support/page-parts.js';
import { reportFolder } from '../../support/report-folder.js';

const parts = await pageParts();
const block = (html: string, id: string): unknown =>
  JSON.parse(new RegExp(`id="${id}">(.*?)</script>`).exec(html)![1]!);

/** Sections of the sample pictures, no two alike: they are as hard to compress as what a camera takes. */
async function photographs(folder: string): Promise<void> {
  const samples = ['balloons.jpg', 'cat.png', 'fruit.jpg', 'lake.jpg'];
  for (const [place, name] of (await readdir(folder)).entries()) {
    const [left, top] = [place % 11, Math.floor(place / 11)];
    const picture = await sharp(`samples/pictures/${samples[place % samples.length]}`)
      .extract({ left, top, width: 200, height: 200 })
      .modulate({ brightness: 0.7 + place / 200 })
      .resize(400, 400)
      .png({ compressionLevel: 1 })
      .toBuffer();
    await writeFile(join(folder, name), picture);
  }
}

describe('writeReport', () => {
  it('writes one file that names no address of its own', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 40, earlierEvery: 10 });
    expect(await writeReport(folder, { parts })).toEqual({
      path: join(folder, 'report.html'),
      rows: 40,
      unread: [],
    });
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(
      /<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;nonce-[^;]+&#39;;/.test(
        html,
      ),
    ).toBe(true);
    expect(
      /(?:src|href)="(?!data:|#)/.exec(html.replace(/<script type="application\/json".*?<\/script>/gs, '')),
    ).toBeNull();
    expect(block(html, 'row-data')).toHaveLength(40);
    expect(await readdir(folder)).not.toContain('report');
  });

  it('holds each thumbnail once, and earlier pictures behind the latest', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 60, earlierEvery: 10, flawless: true });
    await writeReport(folder, { parts });
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    const thumbs = block(html, 'thumb-data') as string[];
    expect(new Set(thumbs).size).toBe(thumbs.length);
    expect(Math.max(...thumbs.map((thumb) => thumb.length))).toBeLessThan(15_000);
    const rows = block(html, 'row-data') as { picture?: { thumb: string }; earlier?: unknown[] }[];
    expect(
      rows.every(
        (row) => row.picture === undefined || /^#\d+$/.test(row.picture.thumb) || !('path' in row.picture),
      ),
    ).toBe(true);
    expect(rows.filter((row) => row.earlier !== undefined).length).toBe(6);
  });

  it('of 120 photographs stays under 1.3 MB', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 120 });
    await photographs(join(folder, 'images'));
    await writeReport(folder, { parts });
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    const thumbs = block(html, 'thumb-data') as string[];
    expect(thumbs.length).toBeGreaterThan(100);
    expect(html.length).toBeGreaterThan(400_000);
    expect(html.length).toBeLessThan(1_300_000);
  });

  it('puts the rows of a large run into files beside it, and takes them away when the run is small', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 2300, pictures: false });
    const written: number[][] = [];
    await writeReport(folder, { parts, onWritten: (...rows) => written.push(rows) });
    expect([written[0], written[1], written.at(-1)]).toEqual([
      [0, 2300],
      [250, 2300],
      [2300, 2300],
    ]);
    expect((await readdir(join(folder, 'report'))).sort()).toEqual(
      Array.from({ length: 10 }, (_, n) => `page-00${String(n + 1).padStart(2, '0')}.js`),
    );
    // Earlier versions wrote files for the search.
    await writeFile(join(folder, 'report', 'search-01.js'), 'millraceTexts()');
    await rm(join(folder, 'results.jsonl'));
    await writeReport(folder, { parts });
    expect(await readdir(join(folder, 'report'))).toEqual([]);
  });

  it('reports pictures without thumbnails with a word, and shows them by their paths', async () => {
    const folder = join(await reportFolder(), 'edits.out');
    await makeRun({ folder, rows: 5, pictures: false, flawless: true, earlierEvery: 0 });
    await writeReport(folder, { parts });
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(/5 pictures have no thumbnail.*npm i sharp/.test(html)).toBe(true);
  });

  it('leaves the earlier report whole when it fails', async () => {
    const folder = await reportFolder({ 'report.html': 'the earlier one' });
    const full: Disk = {
      ...nodeDisk,
      open: async (path, flags) => {
        const file = await nodeDisk.open(path, flags);
        return flags === 'wx'
          ? { ...file, write: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })) }
          : file;
      },
    };
    await expect(writeReport(folder, { disk: full, parts })).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await readdir(folder)).toEqual(['report.html']);
    expect(await readFile(join(folder, 'report.html'), 'utf8')).toBe('the earlier one');
  });

  it('says what it could not read', async () => {
    const folder = await reportFolder({ 'results.jsonl': 'garbage\n{"id":"a","row":1}\n' });
    await writeReport(folder, { parts });
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(html.includes('1 line of the run&#39;s files could not be read.')).toBe(true);
  });

  it('says that a file was removed or cut where rows have ended and are in none', async () => {
    const folder = await reportFolder({
      'results.jsonl': '{"id":"a","row":1}\n',
      'summary.json': '{"rows":{"total":4,"completed":2,"failed":1,"toDo":1}}',
    });
    const lost =
      '2 rows have ended and are in neither results.jsonl nor failures.jsonl: a file was removed or cut. The next start of the run writes it again.';
    expect((await writeReport(folder, { parts })).unread).toEqual([lost]);
    expect(await readFile(join(folder, 'report.html'), 'utf8')).toContain(lost);
  });

  it('says at the rows to go what stopped the last start', async () => {
    const reason = 'Stopped because the service refuses the API key. 2 rows to go.';
    const folder = await reportFolder({
      'journal.jsonl': [
        { n: 1, k: 'start', at: 1, manifest: '/m/edits.csv', identity: {}, settings: {} },
        { n: 2, k: 'stop', at: 2, exitCode: 4 },
      ],
      'summary.json': [
        { rows: { total: 2, completed: 0, failed: 0, toDo: 2 }, thisStart: { exitCode: 4, reason } },
      ],
    });
    await writeReport(folder, { parts });
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(html).toMatch(new RegExp(`<li class="completed">[^]*<p class="cause">${reason}</p>`));
  });

  it('says of a line that cannot be read only that', async () => {
    const folder = await reportFolder({
      'results.jsonl': 'garbage\n{"id":"a","row":1}\n',
      'summary.json': '{"rows":{"total":2,"completed":2,"failed":0,"toDo":0}}',
    });
    const unread = ["1 line of the run's files could not be read."];
    expect((await writeReport(folder, { parts })).unread).toEqual(unread);
  });

  it.each([
    ['at the same time', 5],
    ['by a clock that was set back', 4],
  ])('misses no row that a start has reopened which began %s and was killed', async (_, at) => {
    const folder = await reportFolder({
      'journal.jsonl': `{"k":"start","n":0,"at":1}\n{"k":"stop","n":1,"at":5,"exitCode":1}\n{"k":"start","n":2,"at":${at}}\n`,
      'results.jsonl': '{"id":"a","row":1}\n',
      'summary.json': '{"rows":{"total":2,"completed":1,"failed":1,"toDo":0}}',
    });
    expect((await writeReport(folder, { parts })).unread).toEqual([]);
  });

  it('reads while a run writes: a line that is not whole yet is left for the next report', async () => {
    const folder = await reportFolder({ 'results.jsonl': '{"id":"a","row":1}\n{"id":"b","ro' });
    expect((await writeReport(folder, { parts })).rows).toBe(1);
  });

  it('finds references beside a manifest that lies elsewhere', async () => {
    const parent = await reportFolder();
    await mkdir(join(parent, 'in'));
    const folder = join(parent, 'out');
    await makeRun({ folder, rows: 3 });
    await rm(join(parent, 'photos'), { recursive: true });
    await makeRun({ folder: join(parent, 'in', 'x'), rows: 3 });
    await writeReport(folder, { parts, manifestFolder: join(parent, 'in') });
    const html = await readFile(join(folder, 'report.html'), 'utf8');
    expect(html.includes('../in/photos/bottle.png')).toBe(true);
  });
});
