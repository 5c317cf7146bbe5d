import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'csv-parse/sync';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations } from '../../../../support/axe-violations.js';
import { launchBrowser } from '../../../../support/browser.js';
import { openRehearsal, type Rehearsal } from '../../../../support/rehearsal.js';

const long = 'a very long style '.repeat(25);
const styles = [
  '=1+1',
  '<img src=x onerror=alert(1)>',
  'a "quoted", \'thing\' & more',
  'two\nlines',
  '🖼️ emoji',
  `${long}one`,
  `${long}two`,
];
const cellOf = (text: string) => `"${text.replaceAll('"', '""')}"`;
const pictures = fileURLToPath(new URL('../../../../../samples/pictures/', import.meta.url));

let work: Rehearsal;
let browser: Browser;
let context: BrowserContext;
const alerts: string[] = [];
beforeAll(async () => {
  [work, browser] = [await openRehearsal(), await launchBrowser()];
  await cp(pictures, join(work.folder, 'pictures'), { recursive: true });
  const base = `${work.emulator.baseUrl.replace(/\/v2$/, '')}/files/pictures`;
  await work.write('edits.csv', [
    'id,images,subject',
    `boat,${base}/boat.png,boat`,
    `lake,${base}/boat.png,=lake`,
    `city,${base}/city.png,city`,
  ]);
  const lines = styles.map((style) => `style,${cellOf(style)}`);
  await work.write('axes.csv', ['axis,value', ...lines, 'resolution,1k', 'resolution,2k']);
  const axes = ['--axes', 'axes.csv', '--set', 'prompt={{subject}} in {{style}}'];
  const end = await work.call('run', 'edits.csv', '--endpoint', 'image-edit', ...axes, '--max-cost', '100');
  expect(`${end.code} ${end.stderr}`).toMatch(/^0 /);
}, 180_000);
afterEach(async () => {
  await context.close();
  expect(alerts).toEqual([]);
});
afterAll(async () => {
  await browser.close();
  await work.close();
});

async function open(hash = ''): Promise<Page> {
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
  const page = await context.newPage();
  page.on('dialog', (dialog) => void (alerts.push(dialog.message()), dialog.dismiss()));
  page.on('pageerror', (error) => alerts.push(String(error)));
  await page.goto(pathToFileURL(join(work.folder, 'edits.out', 'report.html')).href + hash);
  await page.locator('.frame, .variants .cell').first().waitFor();
  return page;
}

async function save(page: Page, button: string): Promise<string> {
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  await saved.saveAs(join(work.folder, saved.suggestedFilename()));
  return saved.suggestedFilename();
}

describe('a run with axes', () => {
  it('begins with its pictures by the first axis, like beside like, whatever its values hold', async () => {
    const page = await open();
    expect(await page.locator('.variants .lead').textContent()).toMatch(
      /^2 originals × 2 values of resolution × 7 values of style /,
    );
    const heads = await page.locator('.variants thead th').evaluateAll((all) => all.map((one) => one.title));
    expect(heads.map((text) => text.slice(0, 12)).toSorted()).toEqual(
      styles.map((text) => text.slice(0, 12)).toSorted(),
    );
    expect(new Set(heads).size).toBe(7);
    expect(await page.locator('.variants tbody th').first().getAttribute('title')).toMatch(
      /boat\.png, resolution [12]k$/,
    );
    const other = page.locator('.variants tbody th').first().locator('span').last();
    expect(await other.textContent()).toMatch(/^resolution [12]k$/);
    expect(await other.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    const places = await page
      .locator('.variants tbody td')
      .evaluateAll((all) => all.map((one) => one.querySelectorAll('.cell').length));
    expect(places.toSorted()).toEqual([...Array(14).fill(1), ...Array(14).fill(2)]);
    expect(await axeViolations(page)).toEqual([]);
  });

  it('offers its axes before other columns, by keyboard, and keeps what was chosen in the address', async () => {
    const page = await open();
    const by = page.getByRole('combobox', { name: 'Variants' });
    await by.focus();
    await expect.poll(() => by.locator('optgroup').count()).toBe(2);
    const groups = await by
      .locator('optgroup')
      .evaluateAll((all) =>
        all.map((group) => [group.getAttribute('label'), [...group.children].map((one) => one.textContent)]),
      );
    expect(groups[0]).toEqual(['Axes of the run', ['style', 'resolution']]);
    expect(groups[1]?.[0]).toBe('Other columns');
    expect(await by.inputValue()).toBe('style');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.url()).toContain('by=resolution');
    expect(await page.locator('.variants .lead').textContent()).toContain('2 values of resolution');
    await by.selectOption('');
    await page.locator('.frame').first().waitFor();
    await page.reload();
    await page.locator('.frame').first().waitFor();
    expect(await page.locator('.variants').isHidden()).toBe(true);
    await by.focus();
    await expect.poll(() => by.locator('option').count()).toBeGreaterThan(1);
    await by.selectOption('style');
    await page.locator('.variants .cell').first().waitFor();
    expect(page.url()).not.toContain('by=');
  });

  it('is compared blind by keys and by mouse, and leads from a place to its other rows', async () => {
    const page = await open('#by=resolution');
    await page.getByRole('button', { name: 'Compare blind' }).press('Enter');
    const progress = page.locator('dialog.blind [role=status]');
    await expect.poll(() => progress.textContent()).toBe('1 of 14');
    await page.keyboard.press('1');
    await expect.poll(() => progress.textContent()).toBe('2 of 14');
    await page.locator('dialog.blind .side').nth(1).click();
    await expect.poll(() => progress.textContent()).toBe('3 of 14');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show the result' }).click();
    expect(await page.locator('dialog.blind h2').textContent()).toBe('2 pairs compared by resolution');
    await page.keyboard.press('Escape');
  });

  it('names its axes in chosen.csv, and millrace pick keeps them', async () => {
    const page = await open('#find=city&sort=style&by=');
    await page.keyboard.press('j');
    for (let at = 0; at < 14; at++) await page.keyboard.press('p');
    await expect.poll(() => page.locator('.tray .sums p').textContent()).toContain('14 kept');
    expect(await save(page, 'Save chosen.csv')).toBe('edits.chosen.csv');
    const read = async (path: string) =>
      parse<Record<string, string>>(await readFile(join(work.folder, path), 'utf8'), {
        columns: true,
        bom: true,
      });
    const expected = styles
      .map((style) => (style === '=1+1' ? "'=1+1" : style))
      .flatMap((style) => [`${style} 1k`, `${style} 2k`]);
    const made = (rows: Record<string, string>[]) =>
      rows.map(({ style, resolution }) => `${style} ${resolution}`).toSorted();
    expect(made(await read('edits.chosen.csv'))).toEqual(expected.toSorted());
    const { code, stdout, stderr } = await work.call('pick', 'edits.out', 'edits.chosen.csv');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('14 pictures copied');
    const picked = await read('edits.out/chosen/chosen.csv');
    expect(made(picked)).toEqual(expected.toSorted());
    expect(Object.keys(picked[0] ?? {})).toEqual(
      'id,row,file,stars,note,prompt,jobId,style,resolution'.split(','),
    );
  });

  it('keeps its axes in rows that are bought again from the report', async () => {
    const page = await open('#find=lake&sort=style&by=');
    await page.locator('.frame').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await expect.poll(() => page.locator('.tray .sums p').textContent()).toContain('1 row rejected');
    await save(page, 'Save redo manifest');
    const command = (await page.locator('.how code').textContent()) ?? '';
    const before = new Map((await work.lines('edits.out/results.jsonl')).map((line) => [line['id'], line]));
    const words = command.split(' ').slice(1);
    const end = await work.call(...words, '--max-cost', '100');
    expect(`${end.code} ${end.stderr}`).toMatch(/^0 /);
    const after = await work.lines('edits.out/results.jsonl');
    const redone = after.filter(({ id, jobId }) => before.get(id)?.['jobId'] !== jobId);
    expect(redone).toHaveLength(1);
    const was = before.get(redone[0]?.['id'])?.['columns'] as Record<string, string>;
    expect(redone[0]?.['columns']).toMatchObject({ style: was['style'], resolution: was['resolution'] });
    expect(redone[0]?.['columns']).not.toHaveProperty('redo.axes');
    await context.close();
    const again = await open();
    expect(await again.locator('.variants .lead').textContent()).toMatch(
      /^2 originals × 2 values of resolution × 7 values/,
    );
  });
});
