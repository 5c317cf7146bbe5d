import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../../../../runners/report/write-report.js';
import { launchBrowser } from '../../../../support/browser.js';
import { makeRun } from '../../../../support/make-run.js';
import { pageParts } from '../../../../support/page-parts.js';

let folder: string;
let browser: Browser;
let context: BrowserContext;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-review-'));
  browser = await launchBrowser();
  const run = join(folder, 'edits.out');
  await makeRun({ folder: run, rows: 93, earlierEvery: 20 });
  await writeReport(run, { parts: await pageParts() });
}, 120_000);
afterEach(() => context.close());
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(hash = ''): Promise<Page> {
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder, 'edits.out', 'report.html')).href + hash);
  await page.locator('.frame').first().waitFor();
  return page;
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

const dialogName = (page: Page) => page.locator('dialog.large').getAttribute('aria-label');
const sums = (page: Page) => page.locator('.tray .sums p').textContent();

async function download(page: Page, button: string): Promise<{ name: string; text: string }> {
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), 'utf8') };
}

describe('reviewing', () => {
  it('takes a key a picture: 87 pictures, nine of them rejected, and nothing is lost at a reload', async () => {
    const page = await open();
    expect(await page.locator('.review').textContent()).toContain('Review 87 pictures');
    await page.locator('.review a').focus();
    const keys = ['Enter', ...Array.from({ length: 87 }, (_, at) => (at % 10 === 3 ? 'x' : 'p'))];
    expect(keys.length).toBeLessThanOrEqual(90);
    await page.keyboard.press('Enter');
    await page.locator('dialog.large[open]').waitFor();
    for (const [at, key] of keys.slice(1).entries()) {
      await expect.poll(() => page.locator('.progress b').textContent()).toBe(`${at + 1} of 87`);
      await page.keyboard.press(key);
    }
    await expect.poll(() => page.locator('.progress').textContent()).toContain('all decided');
    await page.reload();
    await page.locator('.frame').first().waitFor();
    expect(await sums(page)).toMatch(/^78 kept, 9 rows rejected/);
  });

  it('leaves the filter that it has set to be seen, also where it shows every row', async () => {
    const page = await open();
    await page.locator('.review a').click();
    await press(page, 'p', 'Escape');
    const chosen = page.locator('.toolbar .filters [aria-pressed=true]');
    await expect.poll(() => chosen.allTextContents()).toEqual(['Completed87']);
  });

  it('begins where it was left, and goes on at the end with what was left out', async () => {
    const page = await open();
    await page.locator('.review a').click();
    await expect.poll(() => dialogName(page)).toMatch(/^Row 1,/);
    await press(page, 'p', 'ArrowRight', 'p', 'Escape');
    await page.locator('.review a').click();
    await expect.poll(() => dialogName(page)).toMatch(/^Row 2,/);
    await press(page, 'Escape', 'End', 'Enter');
    await expect.poll(() => page.locator('.progress b').textContent()).toBe('87 of 87');
    await press(page, 'p');
    await expect.poll(() => dialogName(page)).toMatch(/^Row 2,/);
  });

  it('shows how much is decided of what can be decided: failed rows are neither', async () => {
    const page = await open();
    const decided = () =>
      page.locator('.progress').evaluate((element) => element.style.getPropertyValue('--done'));
    await page.locator('.frame .result').first().click();
    await expect.poll(() => page.locator('.progress').textContent()).toContain('of 93 87 to decide');
    expect(await decided()).toBe('0%');
    await press(page, 'Escape');
    await page.locator('.outcomes .tally').nth(1).click();
    await page.locator('.frame').first().click();
    await press(page, 'Enter');
    await expect.poll(() => page.locator('.progress').textContent()).toMatch(/^1 of \d+$/);
    expect(await decided()).toBe('0%');
  });

  it('undoes a verdict and goes back to its row', async () => {
    const page = await open();
    await page.locator('.frame .result').first().click();
    await expect.poll(() => dialogName(page)).toMatch(/^Row 1,/);
    await press(page, 'x');
    await expect.poll(() => dialogName(page)).toMatch(/^Row 2,/);
    await press(page, 'Control+z');
    await expect.poll(() => dialogName(page)).toMatch(/^Row 1,/);
    expect(await page.locator('dialog.large').getAttribute('class')).not.toContain('rejected');
  });

  it('keeps stars and a note, finds rows by them, and undoes them', async () => {
    const page = await open();
    await page.locator('.frame .result').first().click();
    await page.getByRole('button', { name: '1 star', exact: true }).click();
    await press(page, '4', 'n');
    await page.keyboard.type('px warm one');
    await press(page, 'Escape', 'Escape');
    await page.getByRole('searchbox').fill('note:warm stars:>=4');
    await expect.poll(() => page.locator('.where [role=status]').textContent()).toBe('1–1 of 1');
    await page.getByRole('searchbox').fill('');
    await page.locator('h2').first().click();
    await press(page, 'Control+z', 'Control+z', 'Control+z');
    await expect.poll(() => page.locator('.tray').isHidden()).toBe(true);
  });

  it('gives many rows a verdict at once: a range, and all that are found', async () => {
    const page = await open();
    await press(page, 'j', 'Shift+ArrowRight', 'Shift+ArrowRight', 'x');
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(3);
    await page.getByRole('searchbox').fill('mug');
    await expect.poll(() => page.url()).toContain('find=mug');
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await expect.poll(() => page.locator('.frame:not(.rejected)').count()).toBe(0);
    await press(page, 'Control+z');
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(0);
  });

  it('hands over the pictures that were kept as chosen.csv, with the command that copies them', async () => {
    const page = await open();
    await press(page, 'j', 'p', 'p');
    const { name, text } = await download(page, 'Save chosen.csv');
    expect(name).toBe('edits.chosen.csv');
    const [head, first] = text.split('\r\n');
    expect(head).toBe('id,row,file,stars,note,prompt,jobId');
    expect(first).toMatch(/^bottle-0001,1,images\/bottle-0001\.png,,,Put the bottle/);
    expect(await page.locator('.how code').textContent()).toMatch(/^millrace pick \S+edits\.out$/);
  });

  it('keeps the command for one file in sight when the other is saved, also for a second time', async () => {
    const page = await open();
    await press(page, 'j', 'p', 'x');
    for (const button of ['Save chosen.csv', 'Save redo manifest', 'Save chosen.csv'])
      await download(page, button);
    const commands = await page.locator('.tray .how code').allTextContents();
    expect(commands.map((command) => command.split(' ')[1])).toEqual(['pick', 'run']);
  });

  it('takes over what another tab of the same report decides', async () => {
    const page = await open();
    const other = await context.newPage();
    await other.goto(page.url().replace(/#.*/, ''));
    await press(other, 'j', 'p');
    await expect.poll(() => page.locator('.frame.kept').count()).toBe(1);
  });

  it('keeps rejections that the version before had kept', async () => {
    const page = await open();
    await page.evaluate(`(() => {
      const key = 'millrace ' + JSON.parse(document.getElementById('page-data').textContent).run.key;
      const row = JSON.parse(document.getElementById('row-data').textContent)[1];
      localStorage.setItem(key, JSON.stringify([[row.id, { row: row.row, of: row.jobId, failed: false, cost: 1 }]]));
    })()`);
    await page.reload();
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(1);
  });
});

describe('looking closely', () => {
  it('shows a picture pixel by pixel, moves in it, and keeps the place from row to row', async () => {
    const page = await open('#row=4');
    const shown = page.locator('.now .sheet-of img');
    await shown.waitFor();
    await page.setViewportSize({ width: 900, height: 600 });
    await press(page, 'z');
    const scale = await page.evaluate<number>(
      `(() => { const i = document.querySelector('.now img'); const b = i.getBoundingClientRect();
        return Math.min(b.width / i.naturalWidth, b.height / i.naturalHeight); })()`,
    );
    expect(scale).toBeCloseTo(1, 1);
    const before = await shown.boundingBox();
    await press(page, 'Shift+ArrowRight');
    expect((await shown.boundingBox())!.x).toBeLessThan(before!.x);
    await press(page, 'ArrowRight');
    await expect.poll(() => page.locator('.panes.close').count()).toBe(1);
    await press(page, 'z');
    expect(await page.locator('.panes.close').count()).toBe(0);
  });

  it('compares with the original and with an earlier version by slider and overlay, by keyboard alone', async () => {
    const page = await open('#row=20');
    await page.locator('.other').waitFor();
    expect(await page.locator('.other .caption').textContent()).toMatch(/^Original/);
    await press(page, 's', '.', '.');
    expect(await page.locator('.panes').getAttribute('data-mode')).toBe('slider');
    expect(await page.locator('.panes').evaluate((one) => one.style.getPropertyValue('--at'))).toBe('60%');
    await press(page, 'o', 'r');
    expect(await page.locator('.panes').getAttribute('data-mode')).toBe('overlay');
    expect(await page.locator('.other img').getAttribute('alt')).toMatch(/^Earlier version/);
    expect(await page.locator('.flip').textContent()).toContain('Show the earlier version');
    await press(page, 'o');
    expect(await page.locator('.panes').getAttribute('data-mode')).toBe('beside');
  });

  it('has the next picture decoded before it is asked for', async () => {
    const page = await open();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url().replace(/.*\//, '')));
    await page.locator('.frame .result').first().click();
    await expect.poll(() => requests).toContain('plant-0003.png');
    expect(requests).toContain('lamp-0002.png');
    requests.length = 0;
    await press(page, 'ArrowRight');
    await expect.poll(() => dialogName(page)).toMatch(/^Row 2,/);
    expect(await page.evaluate(`document.querySelector('.now img').complete`)).toBe(true);
    expect(requests).not.toContain('lamp-0002.png');
  });
});

describe('finding', () => {
  it('filters by a column and sorts by price, and keeps both in the address', async () => {
    const page = await open();
    const columns = page.getByRole('combobox', { name: 'Filter by column' });
    await columns.hover();
    await expect.poll(() => columns.locator('optgroup').count()).toBeGreaterThan(2);
    await columns.selectOption({ label: '4k (8)' });
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('resolution:4k');
    await expect.poll(() => page.locator('.frame').count()).toBe(8);
    await page.getByRole('searchbox').fill('price:>0.1 time:<12');
    const sort = page.getByRole('combobox', { name: 'Sort' });
    await sort.hover();
    await sort.selectOption('-price');
    await expect.poll(() => page.url()).toContain('sort=-price');
    await page.reload();
    await page.locator('.frame').first().waitFor();
    const costs = (await page.locator('.frame .cost').allTextContents()).map((text) => Number(text.slice(1)));
    expect(costs.length).toBeGreaterThan(5);
    expect(costs).toEqual([...costs].sort((a, b) => b - a));
    expect(Math.min(...costs)).toBeGreaterThan(0.1);
  });
});

describe('variants', () => {
  it('stand side by side by a column, and are compared blind with 1 and 2', async () => {
    const page = await open();
    const axes = page.getByRole('combobox', { name: 'Variants' });
    await axes.hover();
    await axes.selectOption('resolution');
    await expect.poll(() => page.locator('.variants thead th').allTextContents()).toEqual(['1k', '2k', '4k']);
    await page.getByRole('button', { name: 'Compare blind' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.locator('[role=status]').textContent()).toMatch(/^1 of \d+$/);
    expect(await dialog.textContent()).not.toMatch(/[124]k/);
    await press(page, '1', '2', 'Control+z', '2');
    await expect.poll(() => dialog.locator('[role=status]').textContent()).toMatch(/^3 of \d+$/);
    await page.getByRole('button', { name: 'Show the result' }).click();
    expect(await dialog.locator('h2').textContent()).toBe('2 pairs compared by resolution');
    await page.getByRole('button', { name: /^Keep the \d/ }).click();
    await expect.poll(() => sums(page)).toMatch(/^[12] kept/);
  });
});
