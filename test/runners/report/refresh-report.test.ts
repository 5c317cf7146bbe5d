import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refreshReport } from '../../../runners/report/write-report.js';
import { makeRun } from '../../support/make-run.js';
import { pageParts } from '../../support/page-parts.js';
import { reportFolder } from '../../support/report-folder.js';

const parts = await pageParts();

/** A run that has ended, whose summary says how far its other files go. */
async function endedRun(
  rows: number,
): Promise<{ folder: string; page: () => Promise<string>; end: typeof end }> {
  const folder = join(await reportFolder(), 'edits.out');
  await makeRun({ folder, rows, pictures: false, earlierEvery: 0 });
  await end();
  return { folder, page: () => readFile(join(folder, 'report.html'), 'utf8'), end };

  async function end({ crc = 7, starts = 1 } = {}): Promise<void> {
    const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as object;
    const covers = { records: 9 + starts, files: { 'results.jsonl': { bytes: 1, crc } } };
    await writeFile(join(folder, 'summary.json'), JSON.stringify({ ...summary, starts, covers }));
  }
}

describe('refreshReport', () => {
  it('leaves a large report that tells the same, also after a start with nothing to do', async () => {
    const { folder, page, end } = await endedRun(2100);
    await refreshReport(folder, { parts });
    const first = await page();
    await end({ starts: 2 });
    await refreshReport(folder, { parts });
    expect((await page()) === first).toBe(true);
  });

  it('writes it again once a row has changed', async () => {
    const { folder, page, end } = await endedRun(2100);
    await refreshReport(folder, { parts });
    const first = await page();
    await end({ crc: 8 });
    await refreshReport(folder, { parts });
    expect((await page()) === first).toBe(false);
  });

  it('writes it again where its rows are gone, or the summary does not say how far the files go', async () => {
    const { folder, page } = await endedRun(2100);
    await refreshReport(folder, { parts });
    const first = await page();
    await rm(join(folder, 'report'), { recursive: true });
    await refreshReport(folder, { parts });
    const second = await page();
    expect(second === first).toBe(false);
    await rm(join(folder, 'summary.json'));
    await refreshReport(folder, { parts });
    expect((await page()) === second).toBe(false);
  });

  it('always writes a small one', async () => {
    const { folder, page } = await endedRun(20);
    await refreshReport(folder, { parts });
    const first = await page();
    expect(first.includes('run-state')).toBe(false);
    await refreshReport(folder, { parts });
    expect((await page()) === first).toBe(false);
  });
});
