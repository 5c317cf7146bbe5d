import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../../../runners/report/write-report.js';
import { launchBrowser } from '../../../support/browser.js';
import { makeRun } from '../../../support/make-run.js';
import { pageParts } from '../../../support/page-parts.js';

let folder: string;
let browser: Browser;
let context: BrowserContext;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-early-'));
  browser = await launchBrowser();
  await makeRun({ folder, rows: 90, pictures: false, flawless: true });
  await writeReport(folder, { parts: await pageParts() });
}, 120_000);
afterEach(() => context.close());
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

const pressing = (...keys: readonly string[]): string =>
  `for (const key of ${JSON.stringify(keys)}) (document.activeElement ?? document.body)
    .dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`;

/** The keys are pressed as the first card is put into the page, before it has been painted. */
async function openPressing(hash: string, ...keys: readonly string[]): Promise<Page> {
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(`new MutationObserver((_, watching) => {
    if (document.querySelector('.frame') === null) return;
    watching.disconnect();
    ${pressing(...keys)};
  }).observe(document, { childList: true, subtree: true })`);
  await page.goto(pathToFileURL(join(folder, 'report.html')).href + hash);
  await page.locator('.frame').first().waitFor();
  return page;
}

const kept = (page: Page): Promise<string[]> => page.locator('.frame.kept .number').allTextContents();
const dialogName = (page: Page): Promise<string | null> =>
  page.locator('dialog.large').getAttribute('aria-label');

describe('a key pressed with the first card', () => {
  it('is for the row that the address opens, not for the first one behind it', async () => {
    const page = await openPressing('#row=20', 'p');
    await expect.poll(() => kept(page)).toEqual(['20']);
    await expect.poll(() => dialogName(page)).toMatch(/^Row 21,/);
  });

  it('decides the first row', async () => {
    const page = await openPressing('', 'p');
    await expect.poll(() => kept(page)).toEqual(['1']);
  });

  it('goes to the last card, which is not drawn with the first ones', async () => {
    const page = await openPressing('', 'j', 'End', 'p');
    await expect.poll(() => page.locator('.frame').count()).toBe(90);
    expect(await kept(page)).toEqual(['90']);
  });

  it('decides no row that has not been in sight: two keys in one turn decide one', async () => {
    const page = await openPressing('#row=20');
    await page.locator('dialog.large[open]').waitFor();
    await page.evaluate(pressing('p', 'p'));
    await expect.poll(() => dialogName(page)).toMatch(/^Row 21,/);
    await expect.poll(() => kept(page)).toEqual(['20']);
    await page.evaluate(pressing('p'));
    await expect.poll(() => kept(page)).toEqual(['20', '21']);
  });
});
