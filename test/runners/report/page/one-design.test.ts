import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchRun, type Watch } from '../../../../runners/report/watch/watch-run.js';
import { writeReport } from '../../../../runners/report/write-report.js';
import { startStudio, type Studio } from '../../../../samples/studio/start-studio.js';
import { letRunGoOn } from '../../../bench/report/let-run-go-on.js';
import { launchBrowser } from '../../../support/browser.js';
import { drawPicture } from '../../../support/draw-picture.js';
import { makeRun } from '../../../support/make-run.js';
import { pageParts } from '../../../support/page-parts.js';

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

let folder: string;
let browser: Browser;
let watch: Watch;
let studio: Studio;
beforeAll(async () => {
  const parts = await pageParts();
  folder = await mkdtemp(join(tmpdir(), 'millrace-design-'));
  browser = await launchBrowser();
  await makeRun({ folder: join(folder, 'edits.out'), rows: 40, pictures: false, flawless: true });
  const saveCopy = async (_url: string, target: string): Promise<boolean> => {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, await drawPicture({ subject: 1, width: 32, height: 32 }));
    return true;
  };
  await writeReport(join(folder, 'edits.out'), { parts, saveCopy });
  const live = join(folder, 'live.out');
  await makeRun({ folder: live, rows: 30, toDo: 10, pictures: false, maxCost: 40, flawless: true });
  await letRunGoOn(live, 31);
  const counts = { rows: 40, inFlight: 8, queued: 5, working: 3, saving: 0, isStopping: false };
  const state = { at: Date.now(), ...counts, rowsPerMinute: 20, leftMs: 600_000 };
  await writeFile(join(live, '.live.json'), JSON.stringify(state));
  watch = await watchRun(live, { parts });
  studio = await startStudio({ emulator: { workers: 1, latency: 'fixed:10m' } });
}, 60_000);
afterAll(async () => {
  await watch.close();
  await studio.close();
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(address: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options);
  await page.goto(address);
  await page.locator('.frame, #order').first().waitFor();
  return page;
}

const report = (): string => pathToFileURL(join(folder, 'edits.out', 'report.html')).href;

it.each(['light', 'dark'] as const)(
  'report, live page and studio have the same colours and letters: %s',
  async (scheme) => {
    const css = await readFile(
      new URL('../../../../runners/report/page/style/tokens.css', import.meta.url),
      'utf8',
    );
    const names = [...new Set(css.match(/--[a-z]+(?=:)/g))];
    expect(names.length).toBeGreaterThan(15);
    const read = `(() => { const style = getComputedStyle(document.documentElement);
      return [...${JSON.stringify(names)}.map((name) => style.getPropertyValue(name).replaceAll("'", '"').replaceAll(/, +/g, ',').trim()),
        getComputedStyle(document.body).fontFamily, getComputedStyle(document.body).backgroundColor]; })()`;
    const found: unknown[] = [];
    for (const address of [report(), watch.url, studio.url]) {
      const page = await open(address, { colorScheme: scheme });
      found.push(await page.evaluate(read));
      await page.close();
    }
    expect(found[0]).not.toContain('');
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
  },
);

it('the studio has targets of 44 px where it is touched', async () => {
  const page = await open(studio.url, phone);
  await page
    .locator('#files')
    .setInputFiles(['boat.png', 'city.png'].map((name) => `samples/pictures/${name}`));
  await page.getByLabel('Describe the edit').fill('blur 6');
  await page.locator('#send').click();
  await page.locator('.card').first().waitFor();
  await page.locator('#files').setInputFiles(['samples/pictures/boat.png']);
  await page.locator('#tray li button').first().waitFor();
  const small = await page.evaluate(
    `[...document.querySelectorAll('button, label:not([for=prompt]), textarea')]
      .map((one) => [one.textContent.trim(), one.getBoundingClientRect()])
      .filter(([, { width, height }]) => height > 0 && (height < 44 || width < 44))
      .map(([name, { width, height }]) => name + ' ' + width + ' × ' + height)`,
  );
  expect(small).toEqual([]);
  await page.close();
});

it('the live page says what the run costs at its end against the cap, and when it ends by the clock', async () => {
  const page = await open(watch.url);
  const facts = () => page.locator('#flight .facts').textContent();
  await expect.poll(facts).toMatch(/about \$\d+\.\d\d at the end, limit \$40\.00/);
  // The run was made to stand at 20 rows a minute and 10 minutes left; a busy machine has looked later.
  const pattern = /(?:19|20|21) rows a minute.*about (\d+) min left, until (\d\d):(\d\d)/s;
  await expect.poll(facts).toMatch(pattern);
  const [, left, hours, minutes] = pattern.exec((await facts()) ?? '')?.map(Number) ?? [];
  const now = new Date();
  const until = (hours! * 60 + minutes! - now.getHours() * 60 - now.getMinutes() + 1440) % 1440;
  expect(left).toBeGreaterThanOrEqual(9);
  expect(left).toBeLessThanOrEqual(11);
  expect(Math.abs(until - left!)).toBeLessThanOrEqual(1);
  await page.close();
});

it('the report shows a reference on the web where a small copy of it was saved', async () => {
  const page = await open(report());
  const card = page.locator('.frame', { has: page.locator('.id', { hasText: /-0009$/ }) });
  expect(await card.locator('.references img, .references canvas').count()).toBe(1);
  expect(await card.locator('.references .remote').count()).toBe(0);
  await card.locator('.result').click();
  await expect.poll(() => page.locator('dialog .other img').count()).toBe(1);
  expect(await page.locator('.other .caption').textContent()).toMatch(/^Original: https:.*\(small copy\)$/);
  await page.close();
});

it.each([
  ['slowest', '-time', -1],
  ['fastest', 'time', 1],
])('the report sorts by time, the %s row first', async (_, choice, way) => {
  const page = await open(report());
  const times = new Map<string, number>(
    await page.evaluate<[string, number][]>(
      `JSON.parse(document.getElementById('row-data').textContent).map((row) => [row.id, row.executionTime])`,
    ),
  );
  const sort = page.getByRole('combobox', { name: 'Sort' });
  await sort.hover();
  await expect.poll(() => sort.locator(`option[value="${choice}"]`).count()).toBe(1);
  await sort.selectOption(choice);
  const sorted = [...times.values()].sort((one, other) => (one - other) * way);
  await expect
    .poll(async () => (await page.locator('.frame .id').allTextContents()).map((id) => times.get(id)))
    .toEqual(sorted);
  await page.close();
});
