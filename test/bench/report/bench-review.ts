// Measures the report of a large run as a person meets it: what each act costs the page's main thread, times how much slower
// the processor is meant to be (on a loaded machine the clock says nothing), and the memory of the page after all its pages.
// node .config/run-ts.mjs test/bench/report/bench-review.ts [rows] [slower]
import { link, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CDPSession, Page } from 'playwright-core';
import sharp from 'sharp';
import { thumbnailPath } from '../../../runners/batch/artifacts/write-thumbnail.js';
import { writeReport } from '../../../runners/report/write-report.js';
import { launchBrowser } from '../../support/browser.js';
import { drawPicture } from '../../support/draw-picture.js';
import { makeRun } from '../../support/make-run.js';
import { pageParts } from '../../support/page-parts.js';

interface Result {
  readonly image: { readonly path: string; readonly sha256: string };
}

const side = 2048;
/** All frames of the page stand, as the toolbar counts them: `1–96 of 3,000`. */
const isWhole = `(([first, last]) => document.querySelectorAll('.frame').length === last - first + 1)(
  document.querySelector('.where [role=status]').textContent.replaceAll(',', '').split(/\\D+/).map(Number))`;
const bounds = {
  firstFrame: 500,
  firstSearch: 130,
  search: 130,
  page: 130,
  verdict: 130,
  largePicture: 100,
  rendererMb: 250,
};

await bench(Number(process.argv[2] ?? 3_000), Number(process.argv[3] ?? 4));

async function bench(rows: number, slower: number): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const folder = join(parent, 'edits.out');
  await makeRun({ folder, rows, pictures: false, earlierEvery: 0 });
  await linkPictures(folder);
  await writeReport(folder, { parts: await pageParts() });
  const browser = await launchBrowser();
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cost = (act: () => Promise<unknown>): Promise<number> => mainThreadMs(devtools, slower, act);
  const firstFrame = await cost(() => openReport(page, join(folder, 'report.html')));
  await allDrawn(devtools);
  const searches = await searchTwice(devtools, cost);
  const figures = {
    firstFrame,
    ...searches,
    ...(await turnFive(devtools, cost)),
    verdict: await decideTwenty(page, devtools, cost),
    rendererMb: await turnAllPages(page, devtools, rows),
    largePicture: await stepTwenty(page, devtools, cost),
  };
  const pageKb = Math.round((await stat(join(folder, 'report.html'))).size / 1024);
  console.log({ rows, slower, load: loadavg()[0]?.toFixed(1), pageKb, figures, bounds });
  await browser.close();
  await rm(parent, { recursive: true });
}

/** Sixteen pictures of 2k under all names: the browser knows them by their address. */
async function linkPictures(folder: string): Promise<void> {
  const [large, small] = [join(folder, '..', 'large'), join(folder, '..', 'small')];
  await Promise.all(
    [large, small, join(folder, 'images'), join(folder, 'thumbnails')].map((path) =>
      mkdir(path, { recursive: true }),
    ),
  );
  for (let place = 0; place < 16; place++) {
    const picture = await drawPicture({
      subject: place % 8,
      background: (place * 3) % 8,
      width: side,
      height: side,
    });
    await writeFile(join(large, String(place)), picture);
    await writeFile(
      join(small, String(place)),
      await sharp(picture).resize(320).webp({ quality: 70 }).toBuffer(),
    );
  }
  const lines = (await readFile(join(folder, 'results.jsonl'), 'utf8')).trimEnd().split('\n');
  for (const [place, line] of lines.entries()) {
    const { image } = JSON.parse(line) as Result;
    await link(join(large, String(place % 16)), join(folder, image.path));
    await link(join(small, String(place % 16)), join(folder, thumbnailPath(image)));
  }
}

type Cost = (act: () => Promise<unknown>) => Promise<number>;

/** What the page's main thread computed for it, as it would be on a processor so much slower. */
async function mainThreadMs(
  devtools: CDPSession,
  slower: number,
  act: () => Promise<unknown>,
): Promise<number> {
  const spent = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  const before = await spent();
  await act();
  return Math.round(((await spent()) - before) * 1000 * slower);
}

/** Runs in the page without the driver's own script, which would be measured with it. */
async function run(devtools: CDPSession, expression: string): Promise<void> {
  await devtools.send('Runtime.evaluate', { expression, awaitPromise: true });
}

/** Acts, and waits for the frame in which `until` holds. */
function seen(devtools: CDPSession, act: string, until: string): Promise<void> {
  return run(
    devtools,
    `new Promise((done) => {
    ${act};
    const look = () => requestAnimationFrame((${until}) ? done : look);
    look();
  })`,
  );
}

/** Until the first frame of the sheet has been painted. */
async function openReport(page: Page, path: string): Promise<void> {
  await page.addInitScript(`new MutationObserver((_, watching) => {
    if (document.querySelector('.frame') === null) return;
    watching.disconnect();
    requestAnimationFrame(() => setTimeout(() => console.debug('painted')));
  }).observe(document, { childList: true, subtree: true })`);
  const painted = page.waitForEvent('console');
  await page.goto(pathToFileURL(path).href, { waitUntil: 'commit' });
  await painted;
}

/** The pictures of the page that is in sight have come. */
function settled(devtools: CDPSession): Promise<void> {
  const isHere = `Array.from(document.querySelectorAll('.frame'), (one) => [one.getBoundingClientRect(), one.querySelector('img.loading')])
    .every(([{ top, bottom }, loading]) => loading === null || bottom < 0 || top > innerHeight)`;
  return run(
    devtools,
    `new Promise((done) => {
    let quiet = 0;
    const look = () => setTimeout((quiet = ${isHere} ? quiet + 1 : 0) > 5 ? done : look, 100);
    look();
  })`,
  );
}

/** All frames of the first page stand: it is drawn in two steps. */
async function allDrawn(devtools: CDPSession): Promise<void> {
  await seen(devtools, '', isWhole);
  await settled(devtools);
}

/** Until the frames that are in sight stand; then until all of them do. */
async function turnPage(
  devtools: CDPSession,
  cost: Cost = (act) => act().then(() => 0),
  to: 'Next' | 'Previous' = 'Next',
): Promise<readonly [inSight: number, rest: number]> {
  const click = `const first = document.querySelector('.frame'); document.querySelector('[aria-label="${to} page"]').click()`;
  const inSight = await cost(() => seen(devtools, click, `document.querySelector('.frame') !== first`));
  return [inSight, await cost(() => seen(devtools, '', isWhole))];
}

/** The middle of five turns, which end on the second page. */
async function turnFive(devtools: CDPSession, cost: Cost): Promise<{ page: number; restOfPage: number }> {
  const costs: (readonly [number, number])[] = [];
  for (let count = 0; count < 5; count++) {
    costs.push(await turnPage(devtools, cost, count % 2 === 0 ? 'Next' : 'Previous'));
    await settled(devtools);
  }
  const middle = (all: number[]): number => all.sort((a, b) => a - b)[2] ?? 0;
  return { page: middle(costs.map(([one]) => one)), restOfPage: middle(costs.map(([, rest]) => rest)) };
}

/** Each is measured until what it finds stands. What they look through is read while the field has the focus. */
async function searchTwice(
  devtools: CDPSession,
  cost: Cost,
): Promise<{ beforeSearch: number; firstSearch: number; search: number }> {
  const type = (text: string): string =>
    `const field = document.querySelector('[type=search]'); field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event('input'))`;
  const finds = (id: string): Promise<number> =>
    cost(() =>
      seen(
        devtools,
        type(id),
        `document.querySelectorAll('.frame').length === 1 && document.querySelector('.frame .id').textContent === '${id}'`,
      ),
    );
  const beforeSearch = await cost(async () => {
    await run(devtools, `document.querySelector('[type=search]').focus()`);
    await settled(devtools);
  });
  const [firstSearch, search] = [await finds('chair-0004'), await finds('chair-0012')];
  await seen(devtools, `${type('')}; field.blur()`, `document.querySelectorAll('.frame').length === 96`);
  await settled(devtools);
  return { beforeSearch, firstSearch, search };
}

function press(target: string, key: string): string {
  return `${target}.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`;
}

/** The dearest of twenty verdicts. */
async function decideTwenty(page: Page, devtools: CDPSession, cost: Cost): Promise<number> {
  await settled(devtools);
  await page.keyboard.press('j');
  const costs: number[] = [];
  for (let count = 1; count <= 20; count++) {
    const isDone = `document.querySelectorAll('.frame.rejected').length === ${count}`;
    costs.push(await cost(() => seen(devtools, press('document.activeElement', 'x'), isDone)));
  }
  return Math.max(...costs);
}

/** The dearest of twenty steps, each to a picture that has been decoded before. */
async function stepTwenty(page: Page, devtools: CDPSession, cost: Cost): Promise<number> {
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('dialog.large[open]').waitFor();
  const costs: number[] = [];
  const dialog = `document.querySelector('dialog.large')`;
  for (let count = 0; count < 20; count++) {
    await page.waitForTimeout(900);
    const name = await page.locator('dialog.large').getAttribute('aria-label');
    const isDone = `${dialog}.getAttribute('aria-label') !== ${JSON.stringify(name)} && (document.querySelector('.now img')?.complete ?? true)`;
    costs.push(await cost(() => seen(devtools, press(dialog, 'ArrowRight'), isDone)));
  }
  return Math.max(...costs);
}

/** Megabytes that the page's process holds after each page of the gallery has been scrolled through. */
async function turnAllPages(page: Page, own: CDPSession, rows: number): Promise<number> {
  for (let count = 0; count < Math.ceil(rows / 96) - 2; count++) {
    await turnPage(own);
    await page.evaluate(`new Promise((done) => {
      let y = 0;
      const go = () => { scrollTo(0, (y += 700)); if (y < document.body.scrollHeight) setTimeout(go, 60); else done(); };
      go();
    })`);
  }
  const devtools = await page.context().browser()!.newBrowserCDPSession();
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(async ({ id }) =>
      Number(/Pss:\s+(\d+)/.exec(await readFile(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
    );
  return Math.round(Math.max(...(await Promise.all(sizes))) / 1024);
}
