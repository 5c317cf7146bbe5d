import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { watchRun, type Watch } from '../../../../runners/report/watch/watch-run.js';
import { writeReport } from '../../../../runners/report/write-report.js';
import { startStudio, type Studio } from '../../../../samples/studio/start-studio.js';
import { letRunGoOn } from '../../../bench/report/let-run-go-on.js';
import { axeViolations } from '../../../support/axe-violations.js';
import { launchBrowser } from '../../../support/browser.js';
import { makeRun } from '../../../support/make-run.js';
import { begunRun, jobsRun } from '../../../support/odd-runs.js';
import { pageParts } from '../../../support/page-parts.js';

let folder: string;
let browser: Browser;
let context: BrowserContext;
const watches: Record<string, Watch> = {};
let studio: Studio;
let standing: NodeJS.Timeout;

beforeAll(async () => {
  const parts = await pageParts();
  folder = await mkdtemp(join(tmpdir(), 'millrace-accessible-'));
  browser = await launchBrowser();
  const at = (name: string): string => join(folder, name);
  await makeRun({ folder: at('edits.out'), rows: 120, maxCost: 40, earlierEvery: 20 });
  await makeRun({ folder: at('rehearsal.out'), rows: 40, pictures: false });
  const journal = await readFile(at('rehearsal.out/journal.jsonl'), 'utf8');
  await writeFile(at('rehearsal.out/journal.jsonl'), journal.replaceAll('"local":false', '"local":true'));
  await jobsRun(at('jobs.out'));
  await begunRun(at('begun.out'));
  for (const name of ['edits.out', 'rehearsal.out', 'jobs.out', 'begun.out'])
    await writeReport(at(name), { parts });
  for (const name of ['still', 'killed']) {
    await makeRun({ folder: at(name), rows: 30, toDo: 10, maxCost: 40 });
    await letRunGoOn(at(name), 31);
  }
  standing = standStill();
  await rm(at('killed/.owner.json'));
  for (const name of ['still', 'killed', 'none'])
    watches[name] = await watchRun(at(name), { parts, everyMs: 200 });
  // The second job finds no room under the cap, and the first never ends.
  studio = await startStudio({ capUsd: 0.1, emulator: { workers: 1, latency: 'fixed:10m' } });
}, 120_000);
afterEach(() => context.close());
afterAll(async () => {
  clearInterval(standing);
  await Promise.all(Object.values(watches).map((watch) => watch.close()));
  await studio.close();
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

const report = (name: string, hash = ''): string =>
  pathToFileURL(join(folder, name, 'report.html')).href + hash;

/** A process that says what it waits for, once a second. */
function standStill(): NodeJS.Timeout {
  const counts = { rows: 40, inFlight: 8, queued: 8, working: 0, saving: 0, isStopping: false };
  const cause = 'queue not moving for 39 s; the service says 0 of 2 workers busy';
  const write = (): Promise<void> =>
    writeFile(join(folder, 'still', '.live.json'), JSON.stringify({ at: Date.now(), ...counts, cause }));
  return setInterval(() => void write(), 1000);
}

interface State {
  readonly address: () => string;
  /** What is there when it is complete. */
  readonly until: string;
  readonly act?: (page: Page) => Promise<unknown>;
}

const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
const compareBlind = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Compare blind' }).click();
  await page.locator('.blind .side').first().waitFor();
};
const order = async (page: Page): Promise<void> => {
  await page.getByText('Connected', { exact: true }).waitFor();
  await page
    .locator('#files')
    .setInputFiles(['boat.png', 'city.png'].map((one) => `samples/pictures/${one}`));
  await page.getByLabel('Describe the edit').fill('blur 6');
  await page.locator('#send').click();
  await page.locator('.card[data-phase=failed]').waitFor();
  await page.locator('#send').click();
};

const states: Readonly<Record<string, State>> = {
  'the report as it opens': { address: () => report('edits.out'), until: '.frame' },
  'rows kept and rejected, and what was saved of them': {
    address: () => report('edits.out', '#find=chair'),
    until: '.how.redo',
    act: async (page) => {
      await press(page, 'j', 'p', 'x', '4', 'x');
      for (const name of ['Save chosen.csv', 'Save redo manifest'])
        await page.getByRole('button', { name }).click();
    },
  },
  'rows that are selected': {
    address: () => report('edits.out', '#find=chair'),
    until: '.frame.selected',
    act: (page) => press(page, 'j', 'Shift+ArrowRight', 'Shift+ArrowRight'),
  },
  'all that is to be done': {
    address: () => report('edits.out', '#find=chair'),
    until: '.to-do details[open]',
    act: (page) =>
      page.evaluate(`for (const one of document.querySelectorAll('.to-do details')) one.open = true`),
  },
  'a search that finds nothing': { address: () => report('edits.out', '#find=zebra'), until: '.empty' },
  'the large view, with a verdict': {
    address: () => report('edits.out', '#row=2'),
    until: '.decide .keep[aria-pressed=true]',
    act: (page) => press(page, 'p', 'k'),
  },
  'the large view, with an earlier version under a slider': {
    address: () => report('edits.out', '#row=20'),
    until: '.panes[data-mode=slider]',
    act: (page) => press(page, 'r', 's'),
  },
  'the large view of a picture that is to be downloaded': {
    address: () => report('edits.out', '#show=download'),
    until: 'dialog .words',
    act: (page) => page.locator('.frame .result').first().click(),
  },
  'the large view of a row in doubt': {
    address: () => report('edits.out', '#show=unknown'),
    until: 'dialog .words',
    act: (page) => page.locator('.frame .result').first().click(),
  },
  'the list of keys': {
    address: () => report('edits.out', '#find=chair'),
    until: '.key-help',
    act: (page) => press(page, '?'),
  },
  'the variants': { address: () => report('edits.out', '#by=resolution'), until: '.variants .cell' },
  'a blind comparison': {
    address: () => report('edits.out', '#by=resolution'),
    until: '.blind .side',
    act: compareBlind,
  },
  'the result of a blind comparison': {
    address: () => report('edits.out', '#by=resolution'),
    until: '.result-of table',
    act: async (page) => {
      await compareBlind(page);
      await press(page, '1');
      await page.getByRole('button', { name: 'Show the result' }).click();
    },
  },
  'a rehearsal': { address: () => report('rehearsal.out'), until: '.frame' },
  'answers without pictures': { address: () => report('jobs.out'), until: '.frame .output' },
  'a run in which nothing has ended': { address: () => report('begun.out'), until: '.empty' },
  'the live page of a run that stands still': { address: () => watches['still']!.url, until: '.waits' },
  'the live page of a run that was killed': {
    address: () => watches['killed']!.url,
    until: '#flight [data-mode=stopped]',
  },
  'the live page before a run': { address: () => watches['none']!.url, until: '.empty' },
  'the studio': { address: () => studio.url, until: '#money b' },
  'the studio with a job, and one that finds no room': {
    address: () => studio.url,
    until: '#problem:not(:empty)',
    act: order,
  },
};

const desktop = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
// Colours and layout are apart in the style sheet: each of them is looked at once.
const ways = {
  'light, desktop': { ...desktop, colorScheme: 'light' },
  'dark, phone': { ...phone, colorScheme: 'dark' },
  'forced colours, desktop': { ...desktop, forcedColors: 'active' },
} as const;

describe.each(Object.entries(ways))('%s', (_way, options) => {
  it.each(Object.entries(states))(
    '%s: axe has nothing against it, and it fits the width',
    async (_state, { address, until, act }) => {
      context = await browser.newContext({ ...options, reducedMotion: 'reduce', acceptDownloads: true });
      const page = await context.newPage();
      await page.goto(address());
      await page.locator('.frame, .empty, .variants .cell, #order').first().waitFor();
      await act?.(page);
      await page.locator(until).first().waitFor();
      expect(await axeViolations(page)).toEqual([]);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    },
  );
});
