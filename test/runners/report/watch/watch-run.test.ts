import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { get, request } from 'node:http';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { watchRun, type Watch } from '../../../../runners/report/watch/watch-run.js';
import { letRunGoOn } from '../../../bench/report/let-run-go-on.js';
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

const numbers = (page: Page): Promise<string[]> => page.locator('.frame .number').allTextContents();

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
    const standing = await numbers(page);

    await appendFile(join(folder, 'results.jsonl'), lines(results.slice(4, 9)));
    await expect.poll(() => page.locator('h1').textContent()).toContain('All 9 rows completed');
    // Nothing moves under a person who is at work among the latest: what ends meanwhile stands behind.
    await expect.poll(async () => (await numbers(page)).length).toBe(9);
    expect((await numbers(page)).slice(0, 4)).toEqual(standing);
    expect(await page.locator('.newer').isVisible()).toBe(false);
    expect(row).not.toBe('4');
    expect(await page.evaluate(atWork)).toBe(row);
    expect(await page.locator('.frame.rejected .number').textContent()).toBe('4');
    const kept = await numbers(page);
    await page.reload();
    await expect.poll(async () => (await numbers(page)).length).toBe(9);
    expect(await numbers(page)).not.toEqual(kept);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('lets the latest wait for a click once they fill a page', async () => {
    const many = join(place.folder, 'many.out');
    await makeRun({ folder: many, rows: 120, flawless: true, earlierEvery: 0, pictures: false });
    const all = (await readFile(join(many, 'results.jsonl'), 'utf8')).trim().split('\n');
    await writeFile(join(many, 'results.jsonl'), lines(all.slice(0, 90)));
    const other = await watchRun(many, { parts, everyMs: 20 });
    const page = await browser.newPage();
    await page.goto(other.url);
    await expect.poll(() => page.locator('.frame').count()).toBe(90);
    const [newest] = await numbers(page);
    await appendFile(join(many, 'results.jsonl'), lines(all.slice(90)));
    await expect.poll(() => page.locator('.newer').textContent()).toBe('Show 24 new');
    await expect.poll(() => page.locator('.frame').count()).toBe(96);
    expect((await numbers(page))[0]).toBe(newest);
    await page.locator('.newer').click();
    await expect.poll(async () => Number((await numbers(page))[0])).toBeGreaterThan(96);
    await page.context().close();
    await other.close();
  });

  it('moves nothing under the pointer, whatever is above it and whatever ends before it', async () => {
    await writeFile(join(folder, 'results.jsonl'), lines(results.slice(3, 9)));
    await letRunGoOn(folder, 31);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${watch.url}#show=all`);
    await expect.poll(() => numbers(page)).toEqual(['4', '5', '6', '7', '8', '9']);
    const frame = page.locator('.frame').nth(2);
    await frame.locator('.result').hover();
    const before = (await frame.boundingBox())!.y;
    // A row fails, which makes one more thing to do, and rows end that come first.
    const error = { code: 'job-failed', message: 'out of memory', paid: 'no', retryable: true };
    const millrace = { row: 20, kind: 'edit', endpoint: 'image-edit', attempts: 1 };
    const failure = { id: 'bad', images: 'a.png', prompt: 'p', error, millrace };
    await appendFile(join(folder, 'failures.jsonl'), lines([JSON.stringify(failure)]));
    await appendFile(join(folder, 'results.jsonl'), lines(results.slice(0, 3)));
    await expect.poll(() => page.locator('.to-do li').count()).toBe(1);
    expect(await page.locator('.to-do h2').textContent()).toBe('1 thing to do once this run has ended');
    await expect.poll(() => page.locator('.newer').textContent()).toBe('Show 4 new');
    expect((await frame.boundingBox())!.y).toBeCloseTo(before, 0);
    expect((await numbers(page)).slice(0, 6)).toEqual(['4', '5', '6', '7', '8', '9']);
    await page.locator('.newer').click();
    await expect.poll(() => numbers(page)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '20']);
    await page.context().close();
  });

  it('keeps selected rows selected, wherever they stand after others have ended', async () => {
    await writeFile(join(folder, 'results.jsonl'), lines(results.slice(3, 9)));
    const page = await browser.newPage();
    await page.goto(`${watch.url}#show=all`);
    await expect.poll(() => numbers(page)).toEqual(['4', '5', '6', '7', '8', '9']);
    await page
      .locator('.frame .result')
      .nth(1)
      .click({ modifiers: ['ControlOrMeta'] });
    await page.mouse.move(0, 0);
    await page.evaluate('document.activeElement.blur()');
    await appendFile(join(folder, 'results.jsonl'), lines(results.slice(0, 3)));
    await expect.poll(async () => (await numbers(page)).length).toBe(9);
    expect(await page.locator('.frame.selected .number').allTextContents()).toEqual(['5']);
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    expect(await page.locator('.frame.kept .number').allTextContents()).toEqual(['5']);
    await page.context().close();
  });

  it('says why a run stands still, and no time left; and calmly that its process is gone', async () => {
    await letRunGoOn(folder, 31);
    const live = {
      at: Date.now(),
      rows: 25,
      inFlight: 8,
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
    await rm(join(folder, '.owner.json'));
    await expect.poll(() => page.locator('#live').textContent()).toBe('Stopped');
    expect(await page.locator('#live').getAttribute('class')).not.toContain('running');
    expect(await page.locator('#flight h2').textContent()).toBe(
      'Stopped: the process ended without finishing',
    );
    expect(await page.locator('.waits').count()).toBe(0);
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

  it('leaves selected text selected while the figures change, and brings it up to date afterwards', async () => {
    const page = await browser.newPage();
    await page.goto(watch.url);
    const selected = `getSelection().toString()`;
    await page.evaluate(`getSelection().selectAllChildren(document.querySelector('h1'))`);
    const before = await page.evaluate<string>(selected);
    expect(before).toContain('All 4 rows completed');
    await appendFile(join(folder, 'results.jsonl'), lines(results.slice(4, 9)));
    await expect.poll(() => page.locator('a.tally b').first().textContent()).toBe('9');
    expect(await page.evaluate(selected)).toBe(before);
    await page.evaluate(`getSelection().removeAllRanges()`);
    await appendFile(join(folder, 'results.jsonl'), lines(results.slice(9, 10)));
    await expect.poll(() => page.locator('h1').textContent()).toContain('All 10 rows completed');
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

  it('keeps the verdicts on a run that began after the page was opened', async () => {
    const later = join(place.folder, 'later.out');
    const watching = await watchRun(later, { parts, everyMs: 20 });
    const page = await browser.newPage();
    await page.goto(watching.url);
    await expect.poll(() => page.locator('#live').textContent()).toBe('Waiting');
    await rename(folder, later);
    await expect.poll(() => page.locator('.frame').count()).toBe(4);
    await page.locator('.frame .result').first().focus();
    await page.keyboard.press('x');
    await expect.poll(() => page.locator('.frame.rejected').count()).toBe(1);
    await page.reload();
    await expect.poll(() => page.locator('.frame').count()).toBe(4);
    expect(await page.locator('.frame.rejected').count()).toBe(1);
    await page.context().close();
    await watching.close();
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

  it.each([
    ['bytes=2-5', 206, 'bytes 2-5/10', '2345'],
    ['bytes=7-', 206, 'bytes 7-9/10', '789'],
    ['bytes=-3', 206, 'bytes 7-9/10', '789'],
    ['bytes=4-99', 206, 'bytes 4-9/10', '456789'],
    ['bytes=0-1,4-5', 200, undefined, '0123456789'],
    ['bytes=10-', 416, 'bytes */10', ''],
  ])('sends of a video what %s asks for, so that it can be sought', async (range, status, part, body) => {
    await mkdir(join(folder, 'files'), { recursive: true });
    await writeFile(join(folder, 'files', 'clip.mp4'), '0123456789');
    const answer = await ask('/files/clip.mp4', { range });
    expect(answer).toMatchObject({ status, body });
    expect(answer.headers['content-range']).toBe(part);
    if (status !== 416) expect(answer.headers['accept-ranges']).toBe('bytes');
  });

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
