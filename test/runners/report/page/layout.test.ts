import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../../../runners/report/write-report.js';
import { launchBrowser } from '../../../support/browser.js';
import { makeRun } from '../../../support/make-run.js';
import { begunRun, jobsRun } from '../../../support/odd-runs.js';
import { pageParts } from '../../../support/page-parts.js';

const parts = await pageParts();
const desktop = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

interface Line {
  readonly id: string;
  request: { input: { images: string[] } };
}

let folder: string;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-layout-'));
  browser = await launchBrowser();
  const run = join(folder, 'edits.out');
  await makeRun({ folder: run, rows: 120, maxCost: 40, manifest: join(folder, 'edits.csv') });
  await giveReferences(run);
  await writeReport(run, { parts });
  await jobsRun(join(folder, 'jobs.out'));
  await begunRun(join(folder, 'empty.out'));
  for (const name of ['jobs.out', 'empty.out']) await writeReport(join(folder, name), { parts });
}, 120_000);
afterEach(() => page.context().close());
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

/** Row 1 gets three references, row 2 fourteen, row 3 one that is no picture. */
async function giveReferences(run: string): Promise<void> {
  const names = Array.from({ length: 14 }, (_, place) => `photos/view-${place}-of-the-same-thing.png`);
  for (const name of names) await copyFile(join(folder, 'photos/mug.png'), join(folder, name));
  await writeFile(join(folder, 'photos/broken.png'), 'no picture');
  const lines = (await readFile(join(run, 'results.jsonl'), 'utf8')).trimEnd().split('\n');
  const changed = lines.map((text, place) => {
    const line = JSON.parse(text) as Line;
    if (place < 2) line.request.input.images = names.slice(0, place === 0 ? 3 : 14);
    if (place === 2) line.request.input.images = ['photos/broken.png'];
    return JSON.stringify(line);
  });
  await writeFile(join(run, 'results.jsonl'), `${changed.join('\n')}\n`);
}

async function open(name = 'edits.out', options: BrowserContextOptions = desktop, hash = ''): Promise<void> {
  page = await (await browser.newContext(options)).newPage();
  await page.goto(pathToFileURL(join(folder, name, 'report.html')).href + hash);
  await page.locator('.frame, .empty, .variants .cell').first().waitFor();
}

interface Box {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly right: number;
  readonly bottom: number;
}

const boxesOf = (selector: string): Promise<Box[]> =>
  page.evaluate<Box[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => { const { x, y, right, bottom } = one.getBoundingClientRect();
      return { name: one.className + ' ' + one.textContent, x, y, right, bottom }; }).filter(({ x, right }) => right > x)`,
  );

/** Pairs of boxes that cover each other by more than a rounding. */
function overlaps(boxes: readonly Box[], others: readonly Box[] = []): string[] {
  const pairs = boxes.flatMap((one, place) =>
    (others.length > 0 ? others : boxes.slice(place + 1)).map((other) => [one, other] as const),
  );
  return pairs
    .filter(
      ([one, other]) =>
        Math.min(one.right, other.right) - Math.max(one.x, other.x) > 1 &&
        Math.min(one.bottom, other.bottom) - Math.max(one.y, other.y) > 1,
    )
    .map(([one, other]) => `${one.name} / ${other.name}`);
}

const styleOf = (selector: string, property: string): Promise<string> =>
  page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue(${JSON.stringify(property)})`,
  );

describe('in the large view', () => {
  it.each([
    ['3 references', 1, { width: 1440, height: 900 }],
    ['14 references', 2, { width: 1440, height: 900 }],
    ['14 references in a small window', 2, { width: 1280, height: 720 }],
  ])('nothing covers anything else: %s', async (_name, row, viewport) => {
    await open('edits.out', { viewport }, `#row=${row}`);
    await page.locator('.choice').first().waitFor();
    expect(await page.locator('.choice').count()).toBe(row === 1 ? 3 : 14);
    expect(overlaps(await boxesOf('.compare > *'))).toEqual([]);
    expect(overlaps(await boxesOf('.compare'), await boxesOf('.caption, .pane'))).toEqual([]);
  });

  it('each of several references is compared by keyboard, and the way stays from row to row', async () => {
    await open('edits.out', desktop, '#row=1');
    const other = page.locator('.other .caption');
    await expect.poll(() => other.textContent()).toMatch(/^Original: .*view-0/);
    for (const name of ['view-1', 'view-2', 'view-0']) {
      await page.keyboard.press('r');
      await expect.poll(() => other.textContent()).toContain(name);
    }
    await page.keyboard.press('r');
    await page.keyboard.press('s');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.getByRole('dialog').getAttribute('aria-label')).toMatch(/^Row 2, /);
    await expect.poll(() => other.textContent()).toContain('view-1');
    expect(await page.locator('.panes').getAttribute('data-mode')).toBe('slider');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('b');
    expect(await page.locator('.panes.flipped').count()).toBe(1);
    expect(await page.locator('.flip').getAttribute('aria-pressed')).toBe('true');
  });

  it('the cross of a rejected picture lies on the picture', async () => {
    await open('edits.out', desktop, '#row=3');
    await page.locator('.now img').waitFor();
    await page.keyboard.press('x');
    await page.keyboard.press('ArrowLeft');
    await page.locator('dialog.rejected .now img').waitFor();
    const [cross, picture] = [(await boxesOf('.now .pencil'))[0]!, (await boxesOf('.now img'))[0]!];
    expect((cross.x + cross.right) / 2).toBeCloseTo((picture.x + picture.right) / 2, 0);
    expect((cross.y + cross.bottom) / 2).toBeCloseTo((picture.y + picture.bottom) / 2, 0);
  });
});

it('a mark stands in the gallery for a reference that is no picture', async () => {
  await open();
  const reference = page.locator('.frame').nth(2).locator('.references > *');
  await expect.poll(() => reference.textContent()).toBe('?');
  expect(await reference.getAttribute('aria-label')).toBe('Reference photos/broken.png');
});

describe('in a narrow window', () => {
  it.each([
    ['a phone', phone],
    ['200 %', { viewport: { width: 720, height: 450 } }],
  ])(
    'references stand beside the result, no word of a command is broken, and the filters stay in sight: %s',
    async (_name, options) => {
      await open('edits.out', options);
      expect(await page.locator('.frame').first().locator('.references > *').count()).toBe(3);
      for (const frame of await page
        .locator('.frame')
        .all()
        .then((all) => all.slice(0, 4))) {
        const [references, result] = [frame.locator('.references'), frame.locator('.result')];
        const [left, right] = [(await references.boundingBox())!, (await result.boundingBox())!];
        expect(left.x + left.width).toBeLessThanOrEqual(right.x + 1);
      }
      const broken = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.command span')].filter((one) => one.getClientRects().length > 1).map((one) => one.textContent)`,
      );
      expect(broken).toEqual([]);
      const words = await boxesOf('.to-do > ol > li:first-child .command span');
      expect(words.length).toBeGreaterThan(6);
      expect(overlaps(words)).toEqual([]);
      await page.locator('.frame').nth(30).scrollIntoViewIfNeeded();
      const [filters] = await boxesOf('.filters');
      expect(filters!.y).toBeGreaterThanOrEqual(-1);
      expect(filters!.bottom).toBeLessThanOrEqual(options.viewport.height / 4);
    },
  );

  it('the words of a tall button stand in its middle', async () => {
    await open('edits.out', phone);
    const off = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.filters button, .review a')].map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const [words, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
        return Math.abs(words.top + words.bottom - box.top - box.bottom) / 2;
      })`,
    );
    expect(Math.max(...off)).toBeLessThan(2);
  });
});

describe('what a run says of itself', () => {
  it('calls nothing failed that is paid and waits for its download, and nothing bought that is in doubt', async () => {
    await open();
    expect(await page.locator('h1').textContent()).toMatch(
      /^114 of 120 rows completed in .* for about \$[\d.]+\. 4 failed\. 1 is paid and still to be downloaded\. 1 is in doubt, and \$0\.0875 more may have been charged\.$/,
    );
  });

  it('names no pace where a second start may have waited', async () => {
    await open();
    const caption = page.locator('.charts figcaption', { hasText: 'Results over time' });
    expect(await caption.textContent()).toMatch(/120 rows in .* of work\.$/);
  });

  it('has one thing to do for one cause, whatever the ids of its rows', async () => {
    const run = join(folder, 'words.out');
    await begunRun(run);
    const failures = ['ash', 'birch', 'elm', 'fir', 'oak'].map((id, place) => ({
      id,
      images: 'a.png',
      prompt: '',
      error: { code: 'invalid-row', message: `line ${place + 2} (id "${id}"): prompt is empty`, paid: 'no' },
      millrace: { row: place + 1, kind: 'edit', endpoint: 'image-edit', attempts: 0 },
    }));
    await writeFile(join(run, 'failures.jsonl'), failures.map((one) => `${JSON.stringify(one)}\n`).join(''));
    await writeReport(run, { parts });
    await open('words.out');
    expect(await page.locator('.to-do h3').allTextContents()).toEqual([
      expect.stringContaining('5 rows are invalid'),
    ]);
  });
});

describe('on a wide screen', () => {
  it('bar, gallery and charts end at one line', async () => {
    await open();
    const ends = await Promise.all(
      ['.bar', '.sheet', '#figures .charts'].map(async (one) => (await boxesOf(one))[0]!),
    );
    for (const { x, right } of ends) {
      expect(right).toBeCloseTo(ends[0]!.right, 0);
      expect(x).toBeCloseTo(ends[0]!.x, 0);
    }
  });

  it('what leads somewhere looks like a link, and no text is tiny', async () => {
    await open();
    expect(await styleOf('a.tally', 'text-decoration-line')).toBe('underline');
    const smallest = await page.evaluate<number>(
      `Math.min(...[...document.querySelectorAll('main *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
        && one.getClientRects().length > 0).map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.closest('svg') === null ? 1 : one.getScreenCTM().a)))`,
    );
    expect(smallest).toBeGreaterThanOrEqual(11.5);
    expect(parseFloat(await styleOf('.frame .id', 'font-size'))).toBeGreaterThanOrEqual(13);
  });

  it('the dots of tallies and legends keep their colours where a person has chosen others', async () => {
    await open('edits.out', { ...desktop, forcedColors: 'active' });
    for (const place of ['.tally', '.legend']) {
      const colours = await page.evaluate<string[]>(
        `[...document.querySelectorAll('${place} .dot')].map((one) => getComputedStyle(one).backgroundColor)`,
      );
      expect(new Set(colours).size).toBeGreaterThan(1);
      expect(colours).not.toContain('rgba(0, 0, 0, 0)');
    }
  });

  it('the states of the bar differ by more than hue, with a gap between two, and none is lost on a phone', async () => {
    await makeRun({ folder: join(folder, 'bar'), rows: 120, toDo: 20, pictures: false });
    await writeReport(join(folder, 'bar'), { parts });
    await open('bar');
    const tones = ['completed', 'failed', 'paid', 'held', 'open'];
    const shapesOf = (place: string, ...properties: readonly string[]): Promise<string[]> =>
      Promise.all(
        tones.map(async (tone) =>
          (await Promise.all(properties.map((one) => styleOf(`${place}.${tone}`, one)))).join(' '),
        ),
      );
    for (const shapes of [
      await shapesOf('.bar rect', 'y', 'height'),
      await shapesOf('.tally .dot', 'height', 'border-radius'),
    ])
      expect(new Set(shapes).size, shapes.join(', ')).toBe(tones.length);
    expect(parseFloat(await styleOf('.bar rect', 'stroke-width'))).toBeGreaterThanOrEqual(2);
    expect(await styleOf('.bar rect', 'stroke')).toBe(await styleOf('body', 'background-color'));
    await page.context().close();
    await open('bar', phone);
    // A pixel on each side belongs to the gap.
    for (const { x, right } of await boxesOf('.bar rect')) expect(right - x).toBeGreaterThanOrEqual(4);
    // Those of one line stand on one line.
    const bottoms = (await boxesOf('.tally b')).map(({ bottom }) => bottom);
    for (const [place, bottom] of bottoms.slice(1).entries()) {
      const step = bottom - bottoms[place]!;
      expect(Math.abs(step) < 1 || step > 30, `${step} px`).toBe(true);
    }
  });

  it('paid and not downloaded has another colour than failed, and its own word', async () => {
    await open();
    const [paid, failed] = await Promise.all(
      ['.tally .dot.paid', '.tally .dot.failed'].map((one) => styleOf(one, 'background-color')),
    );
    expect(paid).not.toBe(failed);
    expect(await page.locator('.tally', { has: page.locator('.paid') }).textContent()).toContain(
      'not downloaded',
    );
  });
});

describe('answers without pictures', () => {
  it('are results with what was asked, and no gallery and no resolution', async () => {
    await open('jobs.out');
    expect(await page.locator('.gallery > h2').textContent()).toBe('Results');
    expect(await page.getByRole('region', { name: 'Results' }).count()).toBe(1);
    expect(await page.locator('body a').allTextContents()).not.toContainEqual(
      expect.stringMatching(/gallery/),
    );
    expect(await page.locator('.frame .prompt').first().textContent()).toBe('{"question":"How many are 0?"}');
    expect(await page.locator('.frame .output').first().textContent()).toContain('{\n  "answer"');
    expect(await page.locator('.figures thead th').first().textContent()).toBe('Rows');
  });
});

describe('a run in which nothing has ended', () => {
  it('draws no chart and makes no excuse', async () => {
    await open('empty.out');
    expect(await page.locator('figure, table').count()).toBe(0);
    expect(await page.locator('main').textContent()).not.toMatch(/No journal|told no times|Too few/);
    expect(await page.locator('.empty').textContent()).toBe('No results yet.');
  });
});
