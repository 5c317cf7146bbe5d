import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shuffledPairs } from '../../../../../runners/report/page/variants/variant-groups.js';
import { writeReport } from '../../../../../runners/report/write-report.js';
import { launchBrowser } from '../../../../support/browser.js';
import { makeRun } from '../../../../support/make-run.js';
import { pageParts } from '../../../../support/page-parts.js';

const rows = 600;

let folder: string;
let browser: Browser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-variants-'));
  browser = await launchBrowser();
  const run = join(folder, 'edits.out');
  await makeRun({ folder: run, rows, pictures: false, earlierEvery: 0, flawless: true });
  await writeReport(run, { parts: await pageParts() });
}, 120_000);
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

/** 600 rows of eight originals, by their resolutions. */
async function openGrid(): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${pathToFileURL(join(folder, 'edits.out', 'report.html')).href}#by=resolution`);
  await page.locator('.variants .cell').first().waitFor();
  return page;
}

describe('many rows of few originals', () => {
  it('show four in each place, and lead to the others', async () => {
    const page = await openGrid();
    const places = await page
      .locator('.variants tbody td')
      .evaluateAll((all) => all.map((one) => one.querySelectorAll('.cell').length));
    expect(Math.max(...places)).toBe(4);
    const more = page.locator('.variants .rest').first();
    const rest = Number(/\d+/.exec((await more.textContent()) ?? '')?.[0]);
    expect(rest).toBeGreaterThan(4);
    await more.click();
    await expect.poll(() => page.locator('.where [role=status]').textContent()).toMatch(`of ${rest + 4}`);
    expect(await page.getByRole('searchbox').inputValue()).toMatch(
      /^original:"photos\/\w+\.png" resolution:\dk$/,
    );
  });

  it('stand below the value that they have', async () => {
    const page = await openGrid();
    const lines = await page
      .locator('.variants tr')
      .evaluateAll((all) =>
        all.map((line) =>
          [...line.children].slice(1).map((place) => Math.round(place.getBoundingClientRect().left)),
        ),
      );
    expect(lines.length).toBeGreaterThan(3);
    expect(new Set(lines[0]).size).toBe(3);
    for (const line of lines) expect(line).toEqual(lines[0]);
  });

  it('are not drawn anew by a verdict', async () => {
    const page = await openGrid();
    await page.evaluate(`window.before = [...document.querySelectorAll('.variants .cell')]`);
    await page.locator('.variants .cell').nth(2).click();
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('p');
    await page.keyboard.press('Escape');
    await page.locator('.variants .cell.kept').waitFor();
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.variants .cell')].every((cell, place) => cell === window.before[place])`,
      ),
    ).toBe(true);
    expect(await page.locator('.variants .cell').nth(2).textContent()).toContain('kept');
  });
});

it('a blind comparison has no more pairs than anybody compares, as many of each original', () => {
  const values = Array.from({ length: 60 }, (_, value) => `take ${value}`);
  const groups = Array.from({ length: 100 }, (_, group) => ({
    original: `photo ${group}`,
    others: [],
    byValue: new Map(values.map((value, place) => [value, [group * 60 + place]])),
  }));
  const pairs = shuffledPairs({ values, groups }, Math.random, () => true);
  const counts = new Map<number, number>();
  for (const { left, right } of pairs) {
    const group = Math.floor(left.place / 60);
    expect(Math.floor(right.place / 60)).toBe(group);
    expect(left.place).not.toBe(right.place);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  expect([...counts.values()]).toEqual(groups.map(() => 50));
});
