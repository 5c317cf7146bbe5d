import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../../../runners/report/write-report.js';
import { launchBrowser } from '../../../support/browser.js';
import { drawPicture } from '../../../support/draw-picture.js';
import { makeRun } from '../../../support/make-run.js';
import { pageParts } from '../../../support/page-parts.js';

const desktop = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const parts = await pageParts();

let folder: string;
let browser: Browser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-look-'));
  browser = await launchBrowser();
  const manifest = join(folder, 'edits.csv');
  await makeRun({ folder: join(folder, 'edits.out'), rows: 200, maxCost: 40, manifest });
  await writeReport(join(folder, 'edits.out'), { parts });
  const rehearsal = join(folder, 'rehearsal.out');
  await makeRun({ folder: rehearsal, rows: 200, pictures: false });
  const journal = await readFile(join(rehearsal, 'journal.jsonl'), 'utf8');
  await writeFile(join(rehearsal, 'journal.jsonl'), journal.replaceAll('"local":false', '"local":true'));
  await writeReport(rehearsal, { parts });
}, 120_000);
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(name = 'edits.out', options: BrowserContextOptions = desktop, hash = ''): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(pathToFileURL(join(folder, name, 'report.html')).href + hash);
  await page.locator('.frame').first().waitFor();
  return page;
}

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(document.activeElement.closest('.frame') ?? document.activeElement).textContent`);

describe('what to do now', () => {
  it('stands above the gallery, with the price and a command that can be pasted', async () => {
    const page = await open();
    const items = page.locator('.to-do > ol > li');
    expect(await items.count()).toBe(3);
    expect(await page.locator('.to-do').textContent()).toMatch(/Not charged; sending them again costs \$\d/);
    const commands = await page.locator('.to-do .command code').allTextContents();
    expect(commands).toHaveLength(4);
    for (const command of commands)
      expect(command).toMatch(
        /^millrace (run \S+edits\.csv --out \S+edits\.out --base-url https:|(refetch|settle) \S+edits\.out)/,
      );
    await page.context().close();
  });

  it.each([
    ['desktop', desktop],
    ['small desktop', { viewport: { width: 1280, height: 860 } }],
    ['phone', phone],
  ])('leaves room for the gallery within one screen: %s', async (_name, options) => {
    const page = await open('edits.out', options);
    const { y } = (await page.locator('#rows').boundingBox())!;
    expect(y).toBeLessThan(options.viewport.height);
    expect(await page.locator('.review').textContent()).toMatch(/Review \d+ pictures/);
    const [gallery, charts] = await Promise.all(
      ['#rows', '.charts'].map((part) => page.locator(part).boundingBox()),
    );
    expect(charts!.y).toBeGreaterThan(gallery!.y + gallery!.height - 1);
    await page.context().close();
  });

  it('hands over all ids of a group, and none is broken', async () => {
    const page = await open();
    await page.locator('.to-do details summary').first().click();
    const ids = await page.locator('.to-do .ids').first().locator('span').allTextContents();
    const copied = await page.locator('.to-do details [data-copy]').first().getAttribute('data-copy');
    expect(copied?.split('\n')).toEqual(ids);
    const wraps = await page
      .locator('.to-do .ids')
      .first()
      .locator('span')
      .evaluateAll((all) => all.map((one) => one.getClientRects().length));
    expect(wraps.every((lines) => lines === 1)).toBe(true);
    await page.context().close();
  });
});

describe('a rehearsal', () => {
  it('says wherever money stands that nothing was spent', async () => {
    const page = await open('rehearsal.out');
    expect(await page.locator('h1').textContent()).toContain('Rehearsal, nothing spent.');
    expect(await page.locator('#summary').textContent()).not.toContain('$');
    expect(await page.locator('caption').first().textContent()).toContain('Rehearsal, nothing spent');
    expect(await page.locator('.frame .cost').count()).toBe(0);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    expect(await page.locator('.tray .sums p').textContent()).toContain('rehearsal, nothing spent');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await page.getByRole('dialog').locator('.status').textContent()).toContain('nothing spent');
    expect(await page.getByRole('dialog').textContent()).not.toContain('$');
    // The emulator has ended, and its pictures with it.
    expect(await page.getByRole('dialog').textContent()).not.toContain('at the service');
    await page.context().close();
  });
});

describe('the large view', () => {
  it('says of a picture that is not downloaded what happened and how to get it', async () => {
    const page = await open('edits.out', desktop, '#show=download');
    await page.locator('.frame .result').first().click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.locator('.now .words').textContent()).not.toBe('');
    expect(await dialog.locator('.now img').count()).toBe(0);
    expect(await dialog.locator('.flip').count()).toBe(0);
    expect(await dialog.locator('.next').textContent()).toContain('millrace refetch');
    await page.context().close();
  });

  it('is named by its row, and closes with one Escape, also on a picture that was redone', async () => {
    const page = await open('edits.out', desktop, '#show=again');
    await page.locator('.frame .result').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.choice').nth(1).waitFor();
    const named = (): Promise<string | null> => dialog.getAttribute('aria-label');
    const first = await named();
    expect(first).toMatch(/^Row \d+, /);
    expect(await page.evaluate(`document.activeElement.tagName`)).toBe('DIALOG');
    await page.keyboard.press('j');
    await expect.poll(named).not.toBe(first);
    expect(await named()).toMatch(/^Row \d+, /);
    expect(await page.evaluate(`document.activeElement.tagName`)).toBe('DIALOG');
    await page.keyboard.press('k');
    await expect.poll(named).toBe(first);
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog.count()).toBe(0);
    await page.context().close();
  });

  it('compares by keyboard', async () => {
    const page = await open();
    await page.locator('.frame .result').first().click();
    await page.locator('.flip').focus();
    await page.keyboard.press('Space');
    await expect.poll(() => page.locator('.panes.flipped').count()).toBe(1);
    expect(await page.locator('.flip').getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('b');
    await expect.poll(() => page.locator('.panes.flipped').count()).toBe(0);
    await page.context().close();
  });
});

describe('the gallery', () => {
  it('goes to the first row with the first step, and by the skip link', async () => {
    const page = await open();
    await page.keyboard.press('j');
    expect(await focused(page)).toContain('-0001');
    await page.reload();
    await page.locator('.frame').first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toContain('-0001');
    await page.context().close();
  });

  it('cuts every prompt after two lines', async () => {
    const page = await open();
    const lines = await page.evaluate<number>(
      `Math.max(...[...document.querySelectorAll('.frame .prompt')].map((one) => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight)))`,
    );
    expect(lines).toBeLessThan(2.2);
    await page.context().close();
  });

  it('keeps filter, page, search and open row over a reload, in an address for a colleague', async () => {
    const page = await open();
    await page.getByRole('searchbox').fill('mug');
    await expect.poll(() => page.url()).toContain('find=mug');
    await page.locator('.frame .result').first().click();
    const name = await page.getByRole('dialog').getAttribute('aria-label');
    await page.reload();
    await expect.poll(() => page.getByRole('dialog').getAttribute('aria-label')).toBe(name);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('searchbox').inputValue()).toBe('mug');
    await page.getByRole('searchbox').fill('');
    await page
      .getByRole('group', { name: 'Filter' })
      .getByRole('button', { name: /^Completed/ })
      .click();
    await page.getByRole('button', { name: 'Next page' }).first().click();
    const where = page.locator('.where [role=status]');
    await expect.poll(() => where.textContent()).toMatch(/^97–/);
    const shown = [await where.textContent(), await page.locator('.frame .id').first().textContent()];
    await page.reload();
    await expect
      .poll(async () => [await where.textContent(), await page.locator('.frame .id').first().textContent()])
      .toEqual(shown);
    await page.context().close();
  });

  it('takes a rejection back with Ctrl-Z', async () => {
    const page = await open();
    for (const key of ['j', 'x', 'x']) await page.keyboard.press(key);
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(2);
    await page.keyboard.press('ControlOrMeta+z');
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(1);
    await page.context().close();
  });

  it('leaves three quarters of a phone to the pictures when the tray is open', async () => {
    const page = await open('edits.out', phone);
    await page.locator('.frame .reject').first().click();
    await page.getByRole('button', { name: 'Save redo manifest' }).click();
    await page.locator('.how code').waitFor();
    expect((await page.locator('.tray').boundingBox())!.height).toBeLessThanOrEqual(844 / 4 + 1);
    await page.context().close();
  });

  it('keeps the cap in the command that it prints', async () => {
    const page = await open();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Save redo manifest' }).click();
    await expect.poll(() => page.locator('.how code').textContent()).toContain(' --max-cost 40');
    await page.context().close();
  });
});

describe('colours', () => {
  const tones = ['completed', 'failed', 'held', 'open', 'paid', 'live', 'kept', 'pencil', 'soft'];

  it.each(['light', 'dark'] as const)('reach 3:1 on the paper of the %s scheme', async (colorScheme) => {
    const page = await open('edits.out', { ...desktop, colorScheme });
    const values = await page.evaluate<string[]>(
      `['paper', ...${JSON.stringify(tones)}].map((name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim())`,
    );
    const [paper, ...others] = values.map(luminance);
    for (const [place, tone] of others.entries()) {
      const [dark, light] = [paper!, tone].sort((a, b) => a - b);
      expect((light! + 0.05) / (dark! + 0.05), tones[place]).toBeGreaterThanOrEqual(3);
    }
    await page.context().close();
  });
});

function luminance(hex: string): number {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

describe('small windows', () => {
  it.each([
    ['200 %', { width: 720, height: 450 }],
    ['400 %', { width: 360, height: 225 }],
  ])('at %s the page fits, and the tray leaves three quarters', async (_name, viewport) => {
    const page = await open('edits.out', { viewport });
    await page.locator('.frame .reject').first().click();
    await page.getByRole('button', { name: 'Save redo manifest' }).click();
    expect((await page.locator('.tray').boundingBox())!.height).toBeLessThanOrEqual(viewport.height / 4 + 1);
    const overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    await page.context().close();
  });

  it('on a phone have targets of 44 px, and of 24 px elsewhere', async () => {
    const smallest = async (page: Page): Promise<number> =>
      page.evaluate<number>(
        `Math.min(...[...document.querySelectorAll('button, select, input[type=search], label:has([type=radio]), .tally, .to-do .rest > a, .review a')].map((one) => one.getBoundingClientRect().height).filter((height) => height > 0))`,
      );
    const [touched, pointed] = [await open('edits.out', phone), await open('edits.out')];
    expect(await smallest(touched)).toBeGreaterThanOrEqual(44);
    expect(await smallest(pointed)).toBeGreaterThanOrEqual(24);
    await touched.locator('.frame .result').first().click();
    await touched.getByRole('dialog').waitFor();
    expect(await smallest(touched)).toBeGreaterThanOrEqual(44);
    await Promise.all([touched.context().close(), pointed.context().close()]);
  });
});

/** Completed rows on paper whose result shows nothing. */
const blankPictures = `[...document.querySelectorAll('.frame .result')].filter((one) => {
  const drawn = one.querySelector('img');
  return drawn === null ? one.querySelector('.words') === null : drawn.naturalWidth === 0;
}).length`;

describe('print', () => {
  it('has every row, also where it begins before the whole page of cards is drawn', async () => {
    const context = await browser.newContext(desktop);
    const page = await context.newPage();
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector('.frame') === null) return;
      observer.disconnect();
      window.drawnBefore = document.querySelectorAll('.frame').length;
      window.dispatchEvent(new Event('beforeprint'));
    }).observe(document, { childList: true, subtree: true })`);
    await page.goto(pathToFileURL(join(folder, 'edits.out', 'report.html')).href);
    await expect.poll(() => page.locator('.frame').count()).toBe(200);
    expect(await page.evaluate('window.drawnBefore')).toBeLessThan(96);
    // The second step would have been drawn by then.
    await page.evaluate(
      'new Promise((next) => setTimeout(() => requestIdleCallback(next, { timeout: 1000 }), 300))',
    );
    expect(await page.locator('.frame').count()).toBe(200);
    await context.close();
  });

  it('has every row, each picture, and light paper, also in the dark scheme', async () => {
    const page = await open('edits.out', { ...desktop, colorScheme: 'dark' });
    await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.locator('.frame').count()).toBe(200);
    expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(255, 255, 255)');
    expect(await page.evaluate(`getComputedStyle(document.body).color`)).toBe('rgb(0, 0, 0)');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.frame')).breakInside`)).toBe(
      'avoid',
    );
    await expect.poll(() => page.evaluate<number>(blankPictures)).toBe(0);
    expect(await page.locator('.frame .result img').count()).toBeGreaterThan(180);
    await expect
      .poll(() =>
        page.evaluate(`[...document.querySelectorAll('.sheet img')].filter((one) => !one.complete).length`),
      )
      .toBe(0);
    await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
    expect(await page.locator('.frame').count()).toBe(96);
    await page.context().close();
  });

  it('has every row also where rows lie beside the page', async () => {
    const large = join(folder, 'large');
    const wide = await drawPicture({ subject: 0, width: 1600, height: 1000 });
    await makeRun({ folder: large, rows: 2100, pictures: false });
    await mkdir(join(large, 'images'), { recursive: true });
    await writeFile(join(large, 'images', 'bottle-0001.png'), wide);
    await writeReport(large, { parts });
    const page = await open('large');
    // Without thumbnails pictures are shown themselves, and a canvas keeps four bytes for each of their pixels.
    const widths = `[...document.querySelectorAll('.frame canvas')].map(({ width, height }) => [width, height])`;
    await expect.poll(() => page.evaluate<number[][]>(widths)).toContainEqual([768, 480]);
    await page.evaluate(
      `window.print = () => {
        const pictures = [...document.querySelectorAll('.frame img')];
        window.printed = {
          rows: document.querySelectorAll('.frame').length,
          loading: pictures.filter((one) => one.matches('.loading') || !one.complete).length,
          drawn: pictures.filter((one) => one.naturalWidth > 0).length > 1800,
          // Those in sight before.
          fewCanvases: document.querySelectorAll('.frame canvas').length < 100,
        };
      }`,
    );
    await page.keyboard.press('ControlOrMeta+p');
    // A canvas for each picture would take the memory of all of them at once.
    await expect
      .poll(() => page.evaluate('window.printed'))
      .toEqual({ rows: 2100, loading: 0, drawn: true, fewCanvases: true });
    await expect.poll(() => page.locator('.frame').count()).toBe(96);
    await page.context().close();
  });
});
