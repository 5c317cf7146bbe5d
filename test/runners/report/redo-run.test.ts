import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from '../../support/browser.js';
import { millrace } from '../../support/millrace.js';
import { reportFolder } from '../../support/report-folder.js';
import { openRehearsal } from '../../support/rehearsal.js';
import { openWorkplace, type Workplace } from '../../support/workplace.js';

const samples = fileURLToPath(new URL('../../../samples/', import.meta.url));

let place: Workplace;
let browser: Browser;
beforeAll(async () => {
  place = await openWorkplace();
  browser = await launchBrowser();
  await cp(join(samples, 'edits.csv'), join(place.folder, 'edits.csv'));
  await cp(join(samples, 'pictures'), join(place.folder, 'pictures'), { recursive: true });
}, 60_000);
afterAll(async () => {
  await browser.close();
  await place.remove();
});

it('a rejected picture is bought again once by the command that the report tells, and lies behind the new one', async () => {
  const first = await millrace(['run', 'edits.csv', '--local', '--faults', 'cut@cancel=1'], {
    cwd: place.folder,
  });
  expect(first).toMatchObject({ code: 0 });
  const before = await place.lines('edits.local.out/results.jsonl');

  const page = await openReport();
  await page.getByRole('button', { name: 'city-noir, completed' }).click();
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Black and white, a white frame');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  for (const key of ['End', 'x']) await page.keyboard.press(key);
  expect(await page.locator('.tray .sums p').textContent()).toContain('2 rows rejected');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save redo manifest' }).click();
  const home = await mkdtemp(join(place.folder, 'home-'));
  await (await saved).saveAs(join(home, 'Downloads', (await saved).suggestedFilename()));
  const command = (await page.locator('.how code').textContent()) ?? '';
  // They come from a seed: the first rows would get again what the first rows of the manifest got.
  expect(command).not.toContain('--faults');

  // The file stays where the browser has put it, and the shell may stand in any folder.
  const args = command.split(' ').slice(1);
  const elsewhere = { cwd: home, env: { HOME: home } };
  const redone = await millrace(args, elsewhere);
  expect(redone).toMatchObject({ code: 0 });
  expect(redone.stderr).toContain('note: edits.redo.csv is taken from Downloads');
  const after = await place.lines('edits.local.out/results.jsonl');
  expect(after.length).toBe(before.length);
  expect(changedIds(before, after)).toEqual(['city-noir', 'double-exposure']);
  expect((await place.lines('edits.local.out/earlier.jsonl')).map(({ id }) => id).sort()).toEqual([
    'city-noir',
    'double-exposure',
  ]);

  expect(await millrace(args, elsewhere)).toMatchObject({ code: 0 });
  expect(changedIds(after, await place.lines('edits.local.out/results.jsonl'))).toEqual([]);
  const bought =
    (await readFile(join(place.folder, 'edits.local.out/costs.csv'), 'utf8')).trim().split('\n').length - 1;
  expect(bought).toBe(before.length + 2);

  await page.reload();
  await page.getByRole('button', { name: /^Bought again/ }).click();
  await expect
    .poll(() => page.locator('.frame .id').allTextContents())
    .toEqual(['city-noir', 'double-exposure']);
  expect(await page.locator('.frame .number').allTextContents()).toEqual(['3', '12']);
  expect(await page.locator('.frame.rejected').count()).toBe(0);
  await page.locator('.frame .result').first().click();
  const versions = page.locator('.choice[title^="Earlier version"]');
  expect(await versions.getAttribute('title')).toContain('Black and white, brighten by 35');
  expect(await page.locator('dialog textarea').inputValue()).toBe('Black and white, a white frame');

  // Its new result has the very bytes, and so the file, of the rejected one.
  for (const key of ['ArrowRight', 'r']) await page.keyboard.press(key);
  await expect.poll(() => page.locator('.other .caption').textContent()).toMatch(/^Earlier version/);
  const shown = (pane: string) =>
    page.locator(`.pane.${pane} img`).evaluateAll((all) => all.map((one) => one.getAttribute('src')));
  expect(await shown('now')).toEqual([expect.stringContaining('images/double-exposure')]);
  expect(await shown('other')).toEqual(await shown('now'));
}, 120_000);

it('costs what the tray says by the command that it prints, also after a dearer price was charged', async () => {
  let jobs = 0;
  const work = await openRehearsal({
    faultOf: ({ operation }) => (operation.startsWith('run') && ++jobs === 2 ? 'price:1.3' : ''),
  });
  try {
    await cp(join(samples, 'pictures'), join(work.folder, 'pictures'), { recursive: true });
    const image = `${work.emulator.baseUrl.replace(/\/v2$/, '')}/files/pictures/boat.png`;
    const rows = ['a', 'b', 'c'].map((id) => `${id},${image},sepia ${id}`);
    await work.write('edits.csv', ['id,images,prompt', ...rows]);
    const first = await work.call(
      'run',
      'edits.csv',
      '--endpoint',
      'image-edit',
      '--concurrency',
      '1',
      '--max-price-drift',
      '50',
    );
    expect(`${first.code} ${first.stderr}`).toMatch(/^0/);

    const page = await openReport(join(work.folder, 'edits.out'));
    for (const key of ['j', 'x', 'x']) await page.keyboard.press(key);
    const price = /^2 rows rejected Redo: (\$[\d.]+)\.$/.exec(
      (await page.locator('.tray .sums p').textContent()) ?? '',
    )?.[1];
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save redo manifest' }).click();
    await (await saved).saveAs(join(work.folder, (await saved).suggestedFilename()));
    const command = (await page.locator('.how code').textContent()) ?? '';
    const { stdout } = await work.call('plan', ...command.split(' ').slice(2));
    expect(stdout).toContain(`may cost ${price}`);
  } finally {
    await work.close();
  }
}, 120_000);

async function openReport(folder = join(place.folder, 'edits.local.out')): Promise<Page> {
  const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
  await page.goto(pathToFileURL(join(folder, 'report.html')).href);
  await page.locator('.frame').first().waitFor();
  return page;
}

/** Ids whose job is another one now. */
function changedIds(before: Record<string, unknown>[], after: Record<string, unknown>[]): unknown[] {
  const jobs = new Map(before.map(({ id, jobId }) => [id, jobId]));
  return after.flatMap(({ id, jobId }) => (jobs.get(id) === jobId ? [] : [id])).sort();
}

it('a row to be bought again is to go, though its picture is shown, and is not among the completed ones', async () => {
  const row = (number: number) => ({
    id: `r${number}`,
    row: number,
    kind: 'edit',
    status: 'completed',
    output: {},
  });
  const folder = await reportFolder({
    'journal.jsonl': [
      { n: 1, k: 'start', identity: {}, settings: {} },
      { n: 2, k: 'reopen', id: 'r2', why: 'redo' },
    ],
    'results.jsonl': [1, 2, 3].map((number) => ({ ...row(number), request: { input: {} }, columns: {} })),
    'summary.json': [{ rows: { total: 3, completed: 2, failed: 0, toDo: 1 } }],
  });
  expect(await millrace(['report', folder])).toMatchObject({ code: 0 });
  const page = await browser.newPage();
  await page.goto(pathToFileURL(join(folder, 'report.html')).href);
  const filters = page.getByRole('group', { name: 'Filter' }).getByRole('button');
  await expect.poll(() => filters.allTextContents()).toEqual(['All3', 'Completed2', 'To go1']);
  await page.locator('.outcomes').getByText('1 to go').click();
  await expect.poll(() => page.locator('.frame .id').allTextContents()).toEqual(['r2']);
  await page.close();
});
