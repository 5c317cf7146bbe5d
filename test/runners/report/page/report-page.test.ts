import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../../../runners/report/write-report.js';
import { launchBrowser } from '../../../support/browser.js';
import { makeRun } from '../../../support/make-run.js';
import { pageParts } from '../../../support/page-parts.js';

const desktop = { viewport: { width: 1280, height: 900 } };

const parts = await pageParts();

let folder: string;
let browser: Browser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-report-'));
  browser = await launchBrowser();
  const run = join(folder, 'edits.out');
  await makeRun({ folder: run, rows: 300, maxCost: 40 });
  await writeReport(run, { parts });
}, 120_000);
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

interface Opened {
  page: Page;
  /** What the page asked for, but for itself. */
  requests: string[];
  complaints: string[];
}

async function open(name = 'edits.out', options: BrowserContextOptions = desktop): Promise<Opened> {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  const address = pathToFileURL(join(folder, name, 'report.html')).href;
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (request.url() !== address && !request.url().startsWith('data:')) requests.push(request.url());
  });
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(address);
  await page.locator('.frame, .empty').first().waitFor();
  return { page, requests, complaints };
}

async function download(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [saved] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), 'utf8') };
}

describe('the report as a file', () => {
  it('asks for nothing when it opens, and only for files beside it in the large view', async () => {
    const { page, requests } = await open();
    await page.mouse.wheel(0, 4000);
    expect(requests).toEqual([]);
    await page.locator('.frame .result').first().click();
    await page.locator('dialog .now img').waitFor();
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.every((url) => url.startsWith(pathToFileURL(folder).href))).toBe(true);
    await page.context().close();
  });

  it('shows every picture with its thumbnail, and the references beside it', async () => {
    const { page } = await open();
    // The first screen comes first, the rest of the page when the browser has time.
    await expect.poll(() => page.locator('.frame').count()).toBe(96);
    const broken = await page.evaluate(
      `Promise.all([...document.querySelectorAll('.frame img')].map(async (i) => { i.loading = 'eager'; await i.decode().catch(() => 0); return i.naturalWidth; })).then((w) => [w.length, w.filter((n) => n === 0).length])`,
    );
    const [pictures, missing] = broken as [number, number];
    expect(pictures).toBeGreaterThan(150);
    expect(missing).toBe(0);
    await page.context().close();
  });
});

describe('filters and search', () => {
  it('leads from a group of failures to its rows', async () => {
    const { page } = await open();
    await page.getByRole('link', { name: 'Show these rows' }).first().click();
    await expect.poll(() => page.locator('.frame').count()).toBe(5);
    expect(await page.locator('.frame .words').first().textContent()).toContain('out of memory');
    await page.context().close();
  });

  it('finds rows by words of the prompt, wherever they stand', async () => {
    const { page } = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('rose mug');
    await expect.poll(() => page.locator('.where [role=status]').textContent()).toMatch(/of \d+$/);
    await expect
      .poll(async () =>
        (await page.locator('.frame .prompt').allTextContents()).every(
          (text) => /rose/.test(text) && /mug/.test(text),
        ),
      )
      .toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.where [role=status]').textContent()).toBe('1–96 of 300');
    await page.context().close();
  });

  it('says so when nothing is found, with a way back', async () => {
    const { page } = await open();
    await page.getByRole('searchbox').fill('zebra');
    await expect.poll(() => page.locator('.sheet').textContent()).toBe('No matches. Clear filters');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => page.locator('.frame').count()).toBe(96);
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    await page.context().close();
  });

  it('turns pages, also by walking past the last frame', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Next page' }).first().click();
    await expect.poll(() => page.locator('.where [role=status]').textContent()).toBe('97–192 of 300');
    await page.locator('.frame .result').first().focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.locator('.where [role=status]').textContent()).toBe('1–96 of 300');
    expect(await page.evaluate(`document.activeElement.textContent`)).toContain('mug-0096');
    await page.context().close();
  });
});

describe('review by mouse', () => {
  it('rejects, changes prompt and resolution, tells the price, and hands over a manifest', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Reject bottle-0001' }).click();
    await page.getByRole('button', { name: 'plant-0003, completed' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.locator('.price').textContent()).toBe('Redo: $0.0875');
    await dialog.getByRole('textbox', { name: 'Prompt' }).fill('Put the plant on a red table');
    await dialog.getByRole('radio', { name: '4k' }).check();
    expect(await dialog.locator('.price').textContent()).toBe('Redo: $0.175');
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('.tray .sums p').textContent()).toBe('2 rows rejected Redo: $0.2625.');

    const { name, text } = await download(page, () =>
      page.getByRole('button', { name: 'Save redo manifest' }).click(),
    );
    expect(name).toBe('edits.redo.csv');
    const [head, first, second] = text.split('\r\n');
    expect(head).toContain('id');
    expect(first).toContain('bottle-0001');
    expect(second).toContain('plant-0003');
    expect(second).toContain('Put the plant on a red table');
    expect(second).toContain('4k');
    expect(await page.locator('.how code').textContent()).toMatch(
      /^millrace run edits\.redo\.csv --out \S+edits\.out --changed redo/,
    );
    await page.context().close();
  });

  it('keeps the marks when the page is opened again, and drops them when they are cleared', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Reject lamp-0002' }).click();
    await page.reload();
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await page.locator('.frame.rejected').count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Really clear' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => page.locator('.frame.rejected').count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Really clear' }).click();
    await page.reload();
    await page.locator('.frame').first().waitFor();
    expect(await page.locator('.frame.rejected').count()).toBe(0);
    await page.context().close();
  });

  it('throws nothing away by one click, and what was cleared comes back with Ctrl-Z, edited prompts too', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Reject lamp-0002' }).click();
    await page.getByRole('button', { name: 'plant-0003, completed' }).click();
    const prompt = page.getByRole('dialog').getByRole('textbox', { name: 'Prompt' });
    await prompt.fill('Put the plant on a red table');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    const tray = page.locator('.tray .sums p');
    await expect.poll(() => tray.textContent()).toMatch(/^2 rows rejected/);
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await tray.textContent()).toMatch(/^2 rows rejected/);
    await page.getByRole('button', { name: 'Really clear' }).click();
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(0);
    await page.keyboard.press('ControlOrMeta+z');
    await expect.poll(() => tray.textContent()).toMatch(/^2 rows rejected/);
    await page.reload();
    await expect.poll(() => tray.textContent()).toMatch(/^2 rows rejected/);
    await page.getByRole('button', { name: /^plant-0003, completed/ }).click();
    expect(await prompt.inputValue()).toBe('Put the plant on a red table');
    await page.context().close();
  });

  it('offers no repeat of a row that may be paid for', async () => {
    const { page } = await open();
    await page
      .getByRole('group', { name: 'Filter' })
      .getByRole('button', { name: /^In doubt/ })
      .click();
    await expect.poll(() => page.locator('.frame').count()).toBe(2);
    expect(await page.locator('.frame .verdicts button').count()).toBe(0);
    await page.context().close();
  });

  it('shows earlier pictures behind the latest', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: /^Bought again/ }).click();
    await expect.poll(() => page.locator('.frame').count()).toBe(7);
    await page.locator('.frame .result').first().click();
    await page.keyboard.press('r');
    await expect.poll(() => page.locator('.other .caption').textContent()).toMatch(/^Earlier version.*nicer/);
    await page.context().close();
  });
});

describe('review by keyboard alone', () => {
  it('walks, rejects, opens, edits and downloads', async () => {
    const { page } = await open();
    for (const key of ['j', 'j', 'j', 'x', 'Enter']) await page.keyboard.press(key);
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    expect(await dialog.locator('h2').textContent()).toBe('4 chair-0004');
    await page.keyboard.press('e');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('A chair, x marks the spot');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => dialog.locator('h2').textContent()).toBe('5 clock-0005');
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog.count()).toBe(0);
    expect(await page.evaluate(`document.activeElement.textContent`)).toContain('clock-0005');

    await page.getByRole('button', { name: 'Save redo manifest' }).focus();
    const { text } = await download(page, () => page.keyboard.press('Enter'));
    expect(text.split('\r\n').length).toBe(4);
    expect(text).toContain('plant-0003');
    expect(text).toContain('"A chair, x marks the spot"');
    await page.context().close();
  });

  it('moves by rows of frames and leaves a typed x alone', async () => {
    const { page } = await open();
    await page.locator('.frame .result').first().focus();
    await page.keyboard.press('ArrowDown');
    const label = await page.evaluate<string>(`document.activeElement.textContent`);
    const columns = await page.evaluate<number>(
      `getComputedStyle(document.querySelector('.sheet')).gridTemplateColumns.split(' ').length`,
    );
    expect(Number(/-(\d{4})/.exec(label)![1])).toBe(1 + columns);
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    expect(await page.locator('.frame.rejected').count()).toBe(0);
    await page.context().close();
  });
});

describe('hostile words', () => {
  const hostile = `</script><script>pwned=1</script><img src=x onerror=pwned=1>"'\u0000\u202e\u001b[31m{{7*7}}`;
  const shown = `</script><script>pwned=1</script><img src=x onerror=pwned=1>"'\\x00\\u202e\\x1b[31m{{7*7}}`;

  it('in prompts, ids, errors and addresses show as text and do nothing [fault 30]', async () => {
    await makeRun({ folder: join(folder, 'hostile'), rows: 120, hostile, earlierEvery: 0 });
    await writeReport(join(folder, 'hostile'), { parts });
    const { page, complaints, requests } = await open('hostile');
    expect(await page.locator('.frame .prompt').first().textContent()).toBe(shown);
    expect(await page.locator('.frame .id').first().textContent()).toBe(`${shown}1`);
    expect(await page.locator('.to-do .cause').first().textContent()).toContain('<script>');
    await page.locator('.frame .result').nth(6).click();
    await page.locator('dialog .words').waitFor();
    expect(await page.locator('dialog .words').first().textContent()).toContain(shown);
    await page.keyboard.press('ArrowRight');
    await page.locator('dialog .now img').waitFor();
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[href], [src]')].map((e) => e.getAttribute('href') ?? e.getAttribute('src'))`,
    );
    expect(links.filter((link) => /^\s*(javascript|vbscript|data:(?!image\/webp|,))/i.test(link))).toEqual(
      [],
    );
    expect(await page.evaluate(`typeof pwned`)).toBe('undefined');
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
    await page.context().close();
  });

  it('go into the manifest to the letter', async () => {
    const { page } = await open('hostile');
    await page.locator('.frame .reject').first().click();
    const { name, text } = await download(page, () =>
      page.getByRole('button', { name: 'Save redo manifest' }).click(),
    );
    expect(name).toBe('edits.redo.csv');
    expect(text).toContain(hostile.replaceAll('"', '""'));
    await page.context().close();
  });
});

describe('runs of other sizes', () => {
  it('opens with one row', async () => {
    await makeRun({ folder: join(folder, 'one'), rows: 1 });
    await writeReport(join(folder, 'one'), { parts });
    const { page, complaints } = await open('one');
    expect(await page.locator('.frame').count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('opens with none', async () => {
    await makeRun({ folder: join(folder, 'none'), rows: 0 });
    await writeReport(join(folder, 'none'), { parts });
    const { page } = await open('none');
    expect(await page.locator('.sheet').textContent()).toBe('No results yet.');
    await page.context().close();
  });

  it('takes the rows of a large run from files beside it, as they are looked at', async () => {
    await makeRun({ folder: join(folder, 'large'), rows: 2600, pictures: false });
    await writeReport(join(folder, 'large'), { parts });
    const { page, requests } = await open('large');
    const scripts = (): string[] => requests.flatMap((url) => /report\/(\w+-\d+\.js)\?/.exec(url)?.[1] ?? []);
    await expect.poll(scripts).toEqual(['page-0001.js']);
    await page
      .getByRole('group', { name: 'Filter' })
      .getByRole('button', { name: /^In doubt/ })
      .click();
    await expect.poll(() => page.locator('.frame.held').count()).toBe(17);
    await page.getByRole('searchbox').fill('vase-1222');
    await expect.poll(() => page.locator('.frame .id').allTextContents()).toEqual(['vase-1222']);
    expect(scripts()).toContain('page-0011.js');
    expect(requests.every((url) => url.startsWith('file:'))).toBe(true);

    await page.getByRole('searchbox').fill('');
    await page.getByRole('group', { name: 'Filter' }).getByRole('button', { name: /^All/ }).click();
    await expect.poll(() => page.locator('.frame').count()).toBe(96);
    await page.locator('.frame .reject').first().click();
    const { text } = await download(page, () =>
      page.getByRole('button', { name: 'Save redo manifest' }).click(),
    );
    expect(text).toContain('bottle-0001');
    await page.context().close();
  });

  it('says so when the files beside it are of another report', async () => {
    const { page: first } = await open('large');
    await first.context().close();
    const stale = await readFile(join(folder, 'large', 'report.html'), 'utf8');
    await writeReport(join(folder, 'large'), { parts });
    await writeFile(join(folder, 'large', 'report.html'), stale);
    const { page } = await open('large');
    await expect.poll(() => page.locator('.sheet').textContent()).toContain('write the report again');
    await page.context().close();
  });
});
