import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from 'millrace/emulator';
import { bundlePage, servePage } from '../../samples/browser/serve-page.js';
import { launchBrowser } from '../support/browser.js';

describe('the page of samples/browser', () => {
  let browser: Browser;
  let page: Page;
  let emulator: Emulator;
  let served: Awaited<ReturnType<typeof servePage>>;
  const requests: Record<string, string>[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    emulator = await startEmulator();
    served = await servePage(emulator);
    browser = await launchBrowser();
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.headers()));
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(served.url);
  });
  afterAll(async () => {
    await browser.close();
    await served.close();
    await emulator.close();
  });

  const buy = async (text: string, sleepMs: number) => {
    await page.fill('[name=text]', text);
    await page.fill('[name=sleepMs]', String(sleepMs));
    await page.click('form button');
  };
  const statuses = () => page.locator('li span').allTextContents();

  it('is one script of at most 200 kB, with nothing of Node.js in it', async () => {
    const script = await bundlePage();
    expect(Buffer.byteLength(script)).toBeLessThanOrEqual(200_000);
    expect(script).not.toMatch(/node:|createRequire/);
  });

  it('buys a job and watches it to its end', async () => {
    await buy('hello', 1_500);
    await expect.poll(statuses).toStrictEqual(['IN_PROGRESS']);
    await expect.poll(statuses).toStrictEqual(['completed: {"echo":{"text":"hello","sleepMs":1500}}']);
  });

  it('cancels a job at the service', async () => {
    await buy('stop', 600_000);
    await expect.poll(async () => (await statuses())[1]).toBe('IN_PROGRESS');
    await page.click('li:nth-child(2) button');
    await expect.poll(async () => (await statuses())[1]).toBe('job-cancelled');
    expect(emulator.bill().map(({ status }) => status)).toStrictEqual(['COMPLETED', 'CANCELLED']);
  });

  it('never had the key', () => {
    expect(requests.length).toBeGreaterThan(4);
    for (const headers of requests) expect(JSON.stringify(headers)).not.toContain(emulator.apiKey);
    expect(errors).toStrictEqual([]);
  });
});
