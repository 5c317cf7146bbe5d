import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { watchRun, type Watch } from '../../../../runners/report/watch/watch-run.js';
import { writeReport } from '../../../../runners/report/write-report.js';
import { addCostsBy, sumsOf } from '../../../support/add-costs-by.js';
import { axeViolations } from '../../../support/axe-violations.js';
import { launchBrowser } from '../../../support/browser.js';
import { makeRun } from '../../../support/make-run.js';
import { pageParts } from '../../../support/page-parts.js';

const hostile = [
  '<img src=x onerror="document.title=\'taken\'">',
  'a'.repeat(450),
  'two\nlines',
  '👩‍👩‍👧‍👦'.repeat(40),
  'مرحبا بالعالم',
  '\u202egnp.exe',
];

let folder: string;
let browser: Browser;
let page: Page;
let watch: Watch;
beforeAll(async () => {
  const parts = await pageParts();
  folder = await mkdtemp(join(tmpdir(), 'millrace-by-value-'));
  browser = await launchBrowser();
  const run = join(folder, 'edits.out');
  await makeRun({ folder: run, rows: 24, maxCost: 40 });
  const values = Object.fromEntries(
    [...hostile, ''].map((value, place) => [
      value,
      sumsOf({ completed: 9 - place, failed: 2, held: 1, reported: 1_234.5 - place, unknown: 0.0875 }),
    ]),
  );
  await addCostsBy(run, { customer: { values }, ['wide '.repeat(80)]: { values } }, { customer: 1_500 });
  await writeReport(run, { parts });
  watch = await watchRun(run, { parts, everyMs: 200 });
}, 120_000);
afterEach(() => page.context().close());
afterAll(async () => {
  await watch.close();
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(options: BrowserContextOptions, address = reportAddress()): Promise<void> {
  page = await (await browser.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
  await page.goto(address);
  await page.locator('.frame').first().waitFor();
}
const reportAddress = (): string => pathToFileURL(join(folder, 'edits.out', 'report.html')).href;

const desktop = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

describe('the table of what rows have cost by the values of a column', () => {
  it.each([
    ['light, desktop', { ...desktop, colorScheme: 'light' }],
    ['dark, desktop', { ...desktop, colorScheme: 'dark' }],
    ['light, phone', { ...phone, colorScheme: 'light' }],
    ['dark, phone', { ...phone, colorScheme: 'dark' }],
  ] as const)('axe has nothing against it, and it scrolls in its own box: %s', async (_way, options) => {
    await open(options);
    const box = page.locator('.by-value').first();
    await box.scrollIntoViewIfNeeded();
    expect(await axeViolations(page)).toEqual([]);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    const hidden = `(() => { const one = document.querySelector('.by-value'); one.scrollLeft = 9999; return one.scrollLeft; })()`;
    const scrolled = await page.evaluate<number>(hidden);
    if (options.viewport === phone.viewport) expect(scrolled).toBeGreaterThan(0);
    else expect(scrolled).toBe(0);
  });

  it('shows hostile values as text, the dearest first, below the gallery and above the charts', async () => {
    await open(desktop);
    const table = page.locator('.by-value').first();
    expect(await page.locator('.by-value').count()).toBe(2);
    const names = await table.locator('tbody th').allTextContents();
    expect(names.map((name) => name.slice(0, 20))).toEqual([
      '<img src=x onerror="',
      'a'.repeat(20),
      'two\nlines',
      hostile[3]!.slice(0, 20),
      'مرحبا بالعالم',
      '\\u202egnp.exe',
      '(none)',
    ]);
    expect(await table.locator('tbody tr').first().locator('td').allTextContents()).toEqual([
      ...['9', '1', '–', '1', '$1,234.50', '$0.0875'],
    ]);
    expect(await table.locator('caption').textContent()).toBe('By customer at most $1,500.00 each');
    expect(await page.title()).not.toContain('taken');
    const [gallery, by, charts] = await Promise.all(
      ['.gallery', '.by-value', '.charts'].map(
        async (one) => (await page.locator(one).first().boundingBox())!.y,
      ),
    );
    expect(gallery).toBeLessThan(by!);
    expect(by).toBeLessThan(charts!);
  });

  it('stands on the live page as well', async () => {
    await open(desktop, watch.url);
    expect(await page.locator('.by-value').first().locator('tbody tr').count()).toBe(7);
  });

  it('says of a rehearsal that nothing was spent', async () => {
    const run = join(folder, 'edits.out');
    const journal = await readFile(join(run, 'journal.jsonl'), 'utf8');
    await writeFile(join(run, 'journal.jsonl'), journal.replaceAll('"local":false', '"local":true'));
    await writeReport(run, { parts: await pageParts() });
    await open(desktop);
    expect(await page.locator('.by-value caption').first().textContent()).toContain(
      'Rehearsal, nothing spent',
    );
    expect(await page.locator('.by-value thead').first().textContent()).not.toContain('Spent');
  });
});
