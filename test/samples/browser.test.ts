import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from 'millrace/emulator';
import { bundlePage, servePage } from '../../samples/browser/serve-page.js';
import type { Client, Job, JobEvent } from '../../src/index.js';
import { launchBrowser } from '../support/browser.js';

/** Observables of the platform, as far as they are used here, and a client of the page's service. */
interface BrowserWithClient {
  readonly client: Client;
  readonly Observable: {
    from(job: Job<unknown>): {
      forEach(next: (event: JobEvent<unknown>) => void): Promise<void>;
      last(): Promise<JobEvent<unknown>>;
    };
  };
}

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

  it('is one script of at most 212 kB, with nothing of Node.js in it', async () => {
    const script = await bundlePage();
    expect(Buffer.byteLength(script)).toBeLessThanOrEqual(212_000);
    expect(script).not.toMatch(/node:|createRequire/);
  });

  it('buys a job and watches it to its end', async () => {
    await buy('hello', 5_000);
    await expect.poll(statuses).toStrictEqual(['IN_PROGRESS']);
    await expect.poll(statuses).toStrictEqual(['completed: {"echo":{"text":"hello","sleepMs":5000}}']);
  });

  it('cancels a job at the service', async () => {
    await buy('stop', 600_000);
    await expect.poll(async () => (await statuses())[1]).toBe('IN_PROGRESS');
    await page.click('li:nth-child(2) button');
    await expect.poll(async () => (await statuses())[1]).toBe('job-cancelled');
    expect(emulator.bill().map(({ status }) => status)).toStrictEqual(['COMPLETED', 'CANCELLED']);
  });

  it('buys once where the platform makes its own Observables of a job', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import { createClient } from 'millrace/core';
          import { createFetchTransport } from 'millrace/fetch';
          globalThis.client = createClient({ baseUrl: location.origin, transport: createFetchTransport() });`,
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      },
      bundle: true,
      write: false,
      platform: 'browser',
      logOverride: { 'ignored-bare-import': 'silent' },
    });
    await page.addScriptTag({ content: outputFiles[0]!.text });
    const before = emulator.bill().length;
    const seen = await page.evaluate(async () => {
      const { client, Observable } = globalThis as unknown as BrowserWithClient;
      const job = client.queue('echo').run({ text: 'once' });
      const types: string[][] = [[], []];
      const one = Observable.from(job);
      await Promise.all(types.map((list) => one.forEach(({ type }) => void list.push(type))));
      return { types, last: (await Observable.from(job).last()).type };
    });
    const life = ['submitting', 'accepted', 'status'];
    for (const types of seen.types) expect(types).toEqual(expect.arrayContaining([...life, 'settled']));
    expect(seen.last).toBe('settled');
    expect(emulator.bill()).toHaveLength(before + 1);
  });

  it('never had the key', () => {
    expect(requests.length).toBeGreaterThan(4);
    for (const headers of requests) expect(JSON.stringify(headers)).not.toContain(emulator.apiKey);
    expect(errors).toStrictEqual([]);
  });
});
