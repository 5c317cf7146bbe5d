import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startStudio, type Studio, type StudioOptions } from '../../samples/studio/start-studio.js';
import { launchBrowser } from '../support/browser.js';
import { manualClock } from '../support/manual-clock.js';

const picture = (name: string) => `samples/pictures/${name}`;
/** Long enough that no test sees its end. */
const endless = { workers: 1, latency: 'fixed:10m' };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser.close());

it('is opened from any folder', async () => {
  const file = resolve('dist/samples/studio/studio.js');
  const child = spawn(process.execPath, [file], { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = /http:\S+/.exec(String(line))?.[0] ?? '';
    expect(await (await fetch(url)).text()).toContain('Describe the edit');
  } finally {
    child.kill();
    await once(child, 'close');
  }
});

describe('the studio', () => {
  let studio: Studio;
  let page: Page;
  let complaints: string[];
  beforeEach(() => (complaints = []));
  afterEach(async () => {
    await page.context().close();
    await studio.close();
  });

  async function open(options: StudioOptions, how: Parameters<Browser['newPage']>[0] = {}): Promise<void> {
    studio = await startStudio(options);
    page = await browser.newPage(how);
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(studio.url);
    await page.getByText('Connected', { exact: true }).waitFor();
  }

  async function order(files: string[], prompt: string): Promise<void> {
    await page.locator('#files').setInputFiles(files.map(picture));
    await expect.poll(() => page.locator('#tray li').count()).toBe(files.length);
    await page.getByLabel('Describe the edit').fill(prompt);
    await page.locator('#send').click();
  }

  const stages = () =>
    page
      .locator('.card')
      .evaluateAll((cards: { dataset: { phase?: string } }[]) => cards.map((card) => card.dataset.phase));
  const money = () => page.locator('#money p').textContent();
  const statuses = () => studio.emulator.bill().map(({ status }) => status);

  it('shows jobs in the queue and at work, then the picture beside its reference, and what it cost', async () => {
    // The second job waits for the only worker.
    const clock = manualClock();
    await open({ emulator: { workers: 1, latency: 'fixed:900', clock } });
    await order(['boat.png', 'lake.jpg'], 'sepia <img src=x onerror=alert(1)>');
    await expect.poll(stages).toEqual(['queued', 'working']);
    expect(await money()).toBe('Rehearsal, nothing spent. A real service: $0.00, $0.175 reserved, of $2.00');
    const later = () => clock.advance(900).then(stages);
    await expect.poll(later, { timeout: 15_000 }).toEqual(['done', 'done']);
    await expect.poll(money).toBe('Rehearsal, nothing spent. A real service: $0.175, of $2.00');
    const first = page.locator('.card').last();
    expect(await first.locator('.prompt').textContent()).toBe('sepia <img src=x onerror=alert(1)>');
    expect(await first.locator('.facts').textContent()).toMatch(
      /^1k · waited [\d.]+ s · worked [\d.]+ s · \$0\.0875$/,
    );
    const widths = () =>
      first
        .locator('img')
        .evaluateAll((images: { naturalWidth: number }[]) => images.map((image) => image.naturalWidth));
    await expect.poll(async () => (await widths())[1]).toBe(1024);
    expect((await widths())[0]).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it('cancels a job whose card is closed, at the service, and gives its price back', async () => {
    await open({ emulator: endless });
    await order(['boat.png', 'city.png'], 'blur 6');
    await expect.poll(stages).toEqual(['queued', 'working']);
    await page.getByRole('button', { name: 'Cancel boat.png' }).click();
    await expect.poll(statuses).toEqual(['CANCELLED', 'IN_PROGRESS']);
    await expect.poll(stages).toEqual(['working']);
    await expect
      .poll(money)
      .toBe('Rehearsal, nothing spent. A real service: $0.00, $0.0875 reserved, of $2.00');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Cancel city.png');
  });

  it('cancels everything of a tab that is closed, and nothing of another', async () => {
    await open({ emulator: endless });
    await order(['boat.png', 'city.png'], 'blur 6');
    await expect.poll(stages).toEqual(['queued', 'working']);
    const other = page;
    page = await browser.newPage();
    await page.goto(studio.url);
    await page.getByText('Connected', { exact: true }).waitFor();
    await order(['fruit.jpg'], 'sepia');
    await expect.poll(stages).toEqual(['queued']);
    await other.context().close();
    await expect.poll(statuses).toEqual(['CANCELLED', 'CANCELLED', 'IN_PROGRESS']);
    await expect.poll(stages).toEqual(['working']);
  });

  it('says so when the cap leaves no room, and sends nothing', async () => {
    await open({ capUsd: 0.1, emulator: endless });
    await order(['boat.png', 'city.png'], 'blur 6');
    await expect.poll(stages).toEqual(['failed', 'working']);
    expect(await page.locator('.words').first().textContent()).toBe(
      'Not sent: it costs $0.0875, and $0.0125 is left of the $0.10 that may be spent.',
    );
    expect(studio.emulator.bill()).toHaveLength(1);
  });

  it('cancels what is under way when the server is closed, and the page says so', async () => {
    await open({ emulator: endless });
    await order(['boat.png'], 'blur 6');
    await expect.poll(stages).toEqual(['working']);
    await studio.close();
    expect(statuses()).toEqual(['CANCELLED']);
    await expect.poll(stages).toEqual(['failed']);
    expect(await page.locator('.words').textContent()).toMatch(/^The connection to the server broke/);
    await order(['city.png'], 'blur 6');
    expect(await page.locator('#problem').textContent()).toMatch(/^The server cannot be reached/);
    expect(await page.locator('#tray li').count()).toBe(1);
  });

  it('takes pictures alone, dropped, pasted or chosen, and says what is missing', async () => {
    await open({ emulator: endless }, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    const problem = page.locator('#problem');
    await page.locator('#send').click();
    expect(await problem.textContent()).toBe('Choose a picture first.');
    const drop = (name: string, text: string, how = "new DragEvent('drop', { dataTransfer: data })") =>
      page.evaluate(`{
        const data = new DataTransfer();
        data.items.add(new File([${text}], ${JSON.stringify(name)}));
        document.dispatchEvent(${how});
      }`);
    await drop('notes.png', '"no picture"');
    await expect
      .poll(() => problem.textContent())
      .toBe('notes.png is not a picture: PNG, JPEG, WebP and GIF can be edited.');
    await drop(
      'tiny.gif',
      'Uint8Array.from(atob("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="), (c) => c.charCodeAt(0))',
      "new ClipboardEvent('paste', { clipboardData: data })",
    );
    await page.getByAltText('tiny.gif').waitFor();
    await page.locator('#send').click();
    expect(await problem.textContent()).toBe('Say what should become of the picture.');
    await page.keyboard.type('sepia');
    await page.keyboard.press('Control+Enter');
    await expect.poll(stages).toEqual(['working']);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  it('answers to its own name alone, and takes no more than a picture', async () => {
    await open({ emulator: endless });
    const status = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        request(studio.url, { headers, agent: false }, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end();
      });
    expect(await status({ host: 'example.com' })).toBe(421);
    expect(await status({})).toBe(200);
    const send = async (form: Record<string, string | Blob>, tab = 'none') => {
      const body = new FormData();
      for (const [name, value] of Object.entries(form)) body.set(name, value);
      const response = await fetch(`${studio.url}tabs/${tab}/cards`, { method: 'POST', body });
      return { status: response.status, ...((await response.json()) as { problem: string }) };
    };
    const good = { card: crypto.randomUUID(), prompt: 'sepia', resolution: '1k' };
    const bytes = new Blob([await readFile(picture('boat.png'))]);
    expect(await send({ ...good, picture: new Blob([new Uint8Array(16_000_000)]) })).toMatchObject({
      status: 413,
    });
    expect(await send({ ...good, picture: new Blob(['text']) })).toMatchObject({
      status: 400,
      problem: expect.stringContaining('not a picture'),
    });
    expect(await send({ ...good, resolution: 'toString', picture: bytes })).toMatchObject({ status: 400 });
    expect(await send({ ...good, picture: bytes })).toMatchObject({
      status: 409,
      problem: expect.stringContaining('not connected'),
    });
    expect(studio.emulator.bill()).toEqual([]);
  });
});
