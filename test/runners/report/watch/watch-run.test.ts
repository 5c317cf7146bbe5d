import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { get, request } from 'node:http';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { watchRun, type Watch } from '../../../../runners/report/watch/watch-run.js';
import { letRunGoOn } from '../../../bench/report/let-run-go-on.js';
import { axeViolations } from '../../../support/axe-violations.js';
import { launchBrowser } from '../../../support/browser.js';
import { makeRun } from '../../../support/make-run.js';
import { pageParts } from '../../../support/page-parts.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

const parts = await pageParts();
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser.close());

let place: Workplace;
let folder: string;
let watch: Watch;
/** The lines of a run, of which only the first are there yet. */
let results: string[];

beforeEach(async () => {
  place = await openWorkplace();
  folder = join(place.folder, 'edits.out');
  await makeRun({ folder, rows: 30, flawless: true, earlierEvery: 0 });
  results = (await readFile(join(folder, 'results.jsonl'), 'utf8')).trim().split('\n');
  await writeFile(join(folder, 'results.jsonl'), lines(results.slice(0, 4)));
  watch = await watchRun(folder, { parts, everyMs: 20 });
});
afterEach(async () => {
  await watch.close();
  await place.remove();
});

const lines = (some: readonly string[]): string => some.map((line) => `${line}\n`).join('');

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, watch.url), { headers, method, agent: false }, (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    asked.on('error', reject).end();
  });
}

describe('the live page', () => {
  it('shows rows as they end, without losing what a person is doing', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(watch.url);
    await expect.poll(() => page.locator('.frame').count()).toBe(4);
    expect(await page.locator('.frame .number').first().textContent()).toBe('4');
    await page.locator('.frame .result').first().focus();
    await page.keyboard.press('x');
    const atWork = `document.activeElement.closest('.frame').querySelector('.number').textContent`;
    const row = await page.evaluate(atWork);

    await appendFile(join(folder, 'results.jsonl'), lines(results.slice(4, 9)));
    await expect.poll(() => page.locator('h1').textContent()).toContain('All 9 rows completed');
    // Nothing moves under a person who is at work among the latest: they come when they are asked for.
    await expect.poll(() => page.locator('.newer').textContent()).toBe('Show 5 new');
    expect(await page.locator('.frame').count()).toBe(4);
    expect(row).not.toBe('4');
    expect(await page.evaluate(atWork)).toBe(row);
    await page.locator('.newer').click();
    await expect.poll(() => page.locator('.frame').count()).toBe(9);
    expect(await page.locator('.frame .number').first().textContent()).toBe('9');
    expect(await page.locator('.frame.rejected .number').textContent()).toBe('4');
    expect(complaints).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await page.context().close();
  });

  it('says why a run stands still, and no time left; and calmly that its process is gone', async () => {
    await letRunGoOn(folder, 31);
    const live = {
      at: Date.now(),
      rows: 25,
      inFlight: 5,
      queued: 5,
      working: 0,
      saving: 0,
      isStopping: false,
    };
    const cause = 'queue not moving for 39 s; the service says 0 of 2 workers busy';
    await writeFile(join(folder, '.live.json'), JSON.stringify({ ...live, cause }));
    const page = await browser.newPage();
    await page.goto(watch.url);
    await expect.poll(() => page.locator('.waits').textContent()).toBe(`Waiting: ${cause}.`);
    expect(await page.locator('#flight .facts').textContent()).toMatch(/5 queued/);
    expect(await page.locator('#flight .facts').textContent()).not.toMatch(/left|a minute/);
    expect(await page.locator('h1').textContent()).toMatch(/^Running: 4 of 25 rows done/);
    await expect.poll(() => page.title()).toMatch(/^4\/25 · /);
    expect(await axeViolations(page)).toEqual([]);
    await rm(join(folder, '.owner.json'));
    await expect.poll(() => page.locator('#live').textContent()).toBe('Stopped');
    expect(await page.locator('#live').getAttribute('class')).not.toContain('running');
    expect(await page.locator('#flight h2').textContent()).toBe(
      'Stopped: the process ended without finishing',
    );
    expect(await page.locator('.waits').count()).toBe(0);
    await page.context().close();
  });

  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  it.each([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['forced colours', { forcedColors: 'active' }],
    ['a phone, light', { ...phone, colorScheme: 'light' }],
    ['a phone, dark', { ...phone, colorScheme: 'dark' }],
  ] as const)('has nothing that axe objects to, while it goes and after: %s', async (_name, options) => {
    await letRunGoOn(folder, 31);
    const page = await browser.newPage(options);
    await page.goto(watch.url);
    await expect.poll(() => page.locator('#live').textContent()).toBe('Live');
    expect(await axeViolations(page)).toEqual([]);
    await rm(join(folder, '.owner.json'));
    await expect.poll(() => page.locator('#live').textContent()).toBe('Stopped');
    expect(await axeViolations(page)).toEqual([]);
    await page.context().close();
  });

  it('leaves the focus where it is while the figures change', async () => {
    const page = await browser.newPage();
    await page.goto(watch.url);
    await page.locator('a.tally').first().focus();
    await appendFile(join(folder, 'results.jsonl'), lines(results.slice(4, 9)));
    await expect.poll(() => page.locator('a.tally b').first().textContent()).toBe('9');
    expect(await page.evaluate('document.activeElement.dataset.filter')).toBe('completed');
    await page.context().close();
  });

  it('shows pictures and references, which lie outside the folder', async () => {
    const page = await browser.newPage();
    await page.goto(watch.url);
    await page.locator('.frame').first().waitFor();
    await expect.poll(() => page.locator('.frame canvas').count()).toBe(8);
    expect(await page.locator('.frame img').count()).toBe(0);
    await page.context().close();
  });

  it('goes on after the run was started again and its files were written anew', async () => {
    const page = await browser.newPage();
    await page.goto(watch.url);
    await expect.poll(() => page.locator('.frame').count()).toBe(4);
    await writeFile(join(folder, 'results.tmp'), lines(results.slice(0, 2)));
    await rename(join(folder, 'results.tmp'), join(folder, 'results.jsonl'));
    await expect.poll(() => page.locator('.frame').count()).toBe(2);
    await rm(join(folder, 'results.jsonl'));
    await expect.poll(() => page.locator('.frame').count()).toBe(0);
    await writeFile(join(folder, 'results.jsonl'), lines(results));
    await expect.poll(() => page.locator('.frame').count()).toBe(30);
    await page.context().close();
  });

  it('says so when the watch has ended', async () => {
    const page = await browser.newPage();
    await page.goto(watch.url);
    await expect.poll(() => page.locator('#live').textContent()).toBe('Ended');
    await watch.close();
    await expect.poll(() => page.locator('#live').textContent()).toContain('Disconnected');
    await page.context().close();
  });
});

describe('the server', () => {
  it('answers with a policy that lets the page talk to it alone', async () => {
    const { status, headers } = await ask('/');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'nonce-[^']+'; .*connect-src 'self'; frame-ancestors 'none'$/,
    );
  });

  it.each(['example.test', 'example.test:80', '127.0.0.1:1'])(
    'does not answer to the name %j',
    async (host) => {
      expect((await ask('/', { host })).status).toBe(421);
    },
  );

  it('takes nothing but GET', async () => {
    expect((await ask('/', {}, 'POST')).status).toBe(405);
  });

  it.each([
    '/results.jsonl',
    '/journal.jsonl',
    '/images/..%2fresults.jsonl',
    '/images/%2e%2e/journal.jsonl',
    '/images/..%5c..%5cphotos%5cmug.png',
    '/images/none.png',
    '/references/0000000000000000',
    '/%zz',
    '/report/page-9999.js?0',
    '/images/',
  ])('has nothing at %s', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });

  it('hands out no file that is no picture, whatever a row calls its reference', async () => {
    await writeFile(join(place.folder, 'secret.txt'), 'secret');
    const line = JSON.parse(results[0]!) as { request: { input: { images: string[] } } };
    line.request.input.images = ['secret.txt'];
    await writeFile(join(folder, 'results.jsonl'), lines([JSON.stringify(line)]));
    const version = await newVersion();
    const { body } = await ask(`/report/page-0001.js?${version}`);
    const name = /references\/[0-9a-f]{16}/.exec(body)![0];
    expect((await ask(`/${name}`)).status).toBe(404);
  });

  it('writes nothing', async () => {
    const before = await place.everything('.');
    await newVersion();
    expect([...(await place.everything('.')).keys()].sort()).toEqual([...before.keys()].sort());
  });

  it('ends open connections when it closes', async () => {
    const ended = new Promise<void>((resolve) => {
      get(new URL('/events', watch.url), { agent: false }, (response) =>
        response.on('close', resolve).resume(),
      );
    });
    await ask('/');
    await watch.close();
    await ended;
  });
});

/** Asks for the page until it is of the files as they are now, and gives its version. */
async function newVersion(): Promise<string> {
  const version = (body: string): string => /"version":"(\w+)"/.exec(body)![1]!;
  const first = version((await ask('/')).body);
  await appendFile(join(folder, 'summary.json'), ' ');
  await expect.poll(async () => version((await ask('/')).body)).not.toBe(first);
  return version((await ask('/')).body);
}
