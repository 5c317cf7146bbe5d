import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sampleVideo } from '../../../../runners/emulator/samples/create-sample-function.js';
import { watchRun } from '../../../../runners/report/watch/watch-run.js';
import { writeReport } from '../../../../runners/report/write-report.js';
import { axeViolations } from '../../../support/axe-violations.js';
import { launchBrowser } from '../../../support/browser.js';
import { jobsRun } from '../../../support/odd-runs.js';
import { pageParts } from '../../../support/page-parts.js';

const parts = await pageParts();
const hostile = `files/"><img src=x onerror=alert(1)>#?%41.zip`;
let folder: string;
let browser: Browser;
let context: BrowserContext;

/** Jobs that answered with a video; with a picture and a sound; with a PDF, an archive, and files that lie elsewhere. */
beforeAll(async () => {
  browser = await launchBrowser();
  folder = await mkdtemp(join(tmpdir(), 'millrace-files-'));
  await rm(folder, { recursive: true });
  await jobsRun(folder);
  await Promise.all(['files', 'images'].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, 'files', 'a.webm'), sampleVideo);
  await writeFile(join(folder, 'files', 'b.zip'), 'PK\x03\x04');
  const path = join(folder, 'results.jsonl');
  const lines = (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  const file = (at: string, bytes: number) => ({ field: 'output.url', path: at, bytes });
  const extra: object[] = [
    { files: [file('files/a.webm', sampleVideo.length)] },
    { files: [file('files/b~2.wav', 3_500_000)], image: { path: 'images/b.png', bytes: 10 } },
    { files: [file('files/c.pdf', 640), file('files/b.zip', 1400), file(hostile, 4)] },
    { files: [file('../../etc/passwd', 1), { field: 'output.gone', problem: 'HTTP 404' }] },
  ];
  const changed = lines.map((line, place) => JSON.stringify({ ...line, ...extra[place] }));
  await writeFile(path, `${changed.join('\n')}\n`);
  await writeReport(folder, { parts });
}, 60_000);
afterEach(() => context.close());
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(hash = '', address = pathToFileURL(join(folder, 'report.html')).href): Promise<Page> {
  context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(address + hash);
  await page.locator('.frame').first().waitFor();
  return page;
}

describe('files that --save-output has saved', () => {
  it('stand in the gallery by what they are, with name and size', async () => {
    const page = await open();
    const cards = page.locator('.frame .words');
    expect(await cards.nth(0).textContent()).toBe(`Video, a.webm, 1.5 kB`);
    expect(await page.locator('.words.files').last().textContent()).toBe(
      'File, output.url, not savedFile, output.gone, not saved',
    );
    expect(await page.locator('video, audio').count()).toBe(0);
  });

  it('are played in the large view from beside the report, and never by themselves', async () => {
    const page = await open('#row=1');
    const video = page.locator('dialog video');
    await expect.poll(() => page.evaluate(`document.querySelector('dialog video').videoWidth`)).toBe(96);
    expect(await video.getAttribute('preload')).toBe('metadata');
    expect(await page.evaluate(`document.querySelector('dialog video').paused`)).toBe(true);
    expect(await video.getAttribute('src')).toBe('files/a.webm');
    await video.focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('dialog.large').getAttribute('aria-label')).toMatch(/^Row 1,/);
    expect(await axeViolations(page)).toEqual([]);
  });

  it('lie beside a picture, and are links where no browser plays them, whatever they are called', async () => {
    const page = await open('#row=2');
    expect(await page.locator('.panel audio').getAttribute('src')).toBe('files/b~2.wav');
    await page.keyboard.press('ArrowRight');
    const links = page.locator('.saved-files a');
    await expect.poll(() => links.count()).toBe(3);
    expect(await links.allTextContents()).toEqual([
      'PDF, c.pdf, 640 B',
      'Archive, b.zip, 1.4 kB',
      'Archive, "><img src=x onerror=alert(1)>#?%41.zip, 4 B',
    ]);
    expect(await links.nth(0).getAttribute('target')).toBe('_blank');
    expect(await links.nth(1).getAttribute('download')).toBe('b.zip');
    const name = `files/${encodeURIComponent(hostile.slice(6))}`;
    expect(await links.nth(2).getAttribute('href')).toBe(name);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.locator('.saved-files li').count()).toBe(2);
    expect(await links.count()).toBe(0);
  });

  it('come to the live page over its server, an archive to be saved', async () => {
    const watch = await watchRun(folder, { parts });
    try {
      const page = await open('', watch.url);
      const video = await page.request.get(new URL('files/a.webm', watch.url).href);
      expect(video.headers()['content-type']).toBe('video/webm');
      expect((await video.body()).equals(sampleVideo)).toBe(true);
      const archive = await page.request.get(new URL('files/b.zip', watch.url).href);
      expect(archive.headers()['content-disposition']).toBe('attachment');
      expect((await page.request.get(new URL('images/b.zip', watch.url).href)).status()).toBe(404);
    } finally {
      await watch.close();
    }
  });
});
