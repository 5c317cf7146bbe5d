// Takes the README's pictures: the report of the sample run, the report and the live view of a run of 300 edits, and the studio.
// npm run build && npm run sample && node .config/run-ts.mjs test/bench/report/take-pictures.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { watchRun } from '../../../runners/report/watch/watch-run.js';
import { writeReport } from '../../../runners/report/write-report.js';
import { launchBrowser } from '../../support/browser.js';
import { makeRun } from '../../support/make-run.js';
import { pageParts } from '../../support/page-parts.js';
import { letRunGoOn } from './let-run-go-on.js';

const target = 'samples/report';
const parent = await mkdtemp(join(tmpdir(), 'millrace-pictures-'));
const folder = join(parent, 'edits.out');
await makeRun({ folder, rows: 300, maxCost: 40, manifest: join(parent, 'edits.csv') });
const parts = await pageParts();
await writeReport(folder, { parts });
const browser = await launchBrowser();

const desktop = { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1.5 };
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const toGallery = (page: Page) => page.locator('.gallery').evaluate('(gallery) => gallery.scrollIntoView()');

const sample = pathToFileURL('out/sample/report.html').href;
const square = { viewport: { width: 1200, height: 1130 }, colorScheme: 'light' } as const;
await take('sample-light', square, toGallery, sample);
await take('figures-light', { ...desktop, colorScheme: 'light' }, async () => undefined);
await take('gallery-light', { ...desktop, colorScheme: 'light' }, async (page) => {
  for (const key of ['j', 'j', 'x', 'j', 'j', 'j', 'j', 'j', 'x', 'k', 'k', 'k', 'k'])
    await page.keyboard.press(key);
  await page.locator('.frame.current .result:focus').waitFor();
  await page.waitForTimeout(300);
  await toGallery(page);
});
await take('large-dark', { ...desktop, colorScheme: 'dark' }, async (page) => {
  for (let step = 0; step < 14; step++) await page.keyboard.press('j');
  for (const key of ['x', 'k', 'Enter']) await page.keyboard.press(key);
  await page.locator('dialog.rejected .now img').waitFor();
});
await take('figures-phone-dark', { ...phone, colorScheme: 'dark' }, async () => undefined);
await take('gallery-phone-light', { ...phone, colorScheme: 'light' }, toGallery);
await makeRun({ folder, rows: 300, toDo: 40, maxCost: 40, manifest: join(parent, 'edits.csv') });
await letRunGoOn(folder, 301);
const watch = await watchRun(folder, { parts });
await take('live-light', { ...desktop, colorScheme: 'light' }, async () => undefined, watch.url);
await take('live-phone-dark', { ...phone, colorScheme: 'dark' }, async () => undefined, watch.url);
await watch.close();
await takeStudio();
await browser.close();
await rm(parent, { recursive: true });

/** Pictures on their way through the studio: the first of them are done. */
async function takeStudio(): Promise<void> {
  const studio = spawn(process.execPath, ['dist/samples/studio/studio.js']);
  const [line] = (await once(studio.stdout, 'data')) as [Buffer];
  const order = async (page: Page): Promise<void> => {
    const files = ['lake.jpg', 'fruit.jpg', 'boat.png', 'city.png'].map((name) =>
      join('samples/pictures', name),
    );
    await page.locator('#files').setInputFiles(files);
    await page.getByLabel('Describe the edit').fill('sepia');
    await page.locator('#send').click();
    await page.locator('.card .result img').nth(1).waitFor({ timeout: 60_000 });
  };
  const url = /http:\S+/.exec(String(line))?.[0];
  await take('../studio/studio', { ...desktop, colorScheme: 'light' }, order, url, '#send');
  studio.kill();
}

async function take(
  name: string,
  options: Parameters<typeof browser.newContext>[0],
  act: (page: Page) => Promise<unknown>,
  address = pathToFileURL(join(folder, 'report.html')).href,
  until = '.frame',
): Promise<void> {
  const page = await (await browser.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
  await page.goto(address);
  await page.locator(until).first().waitFor();
  await act(page);
  await page.evaluate(`(() => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(${JSON.stringify(parent)}, '/home/ann');
  })()`);
  await page.evaluate(
    `Promise.all([...document.images].filter((i) => i.getBoundingClientRect().top < innerHeight).map((i) => { i.loading = 'eager'; return i.decode().catch(() => 0); }))`,
  );
  const picture = await page.screenshot();
  await sharp(picture)
    .png({ palette: true, quality: 92, effort: 8 })
    .toFile(join(target, `${name}.png`));
  await page.context().close();
}
