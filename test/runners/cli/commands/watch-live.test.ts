import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { QueueFunction } from '../../../../runners/emulator/settings/user-functions.js';
import { axeViolations } from '../../../support/axe-violations.js';
import { launchBrowser } from '../../../support/browser.js';
import { openRehearsal } from '../../../support/rehearsal.js';

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const rows = 300;
const key = 'a-key-of-ours';

/** The watch looks once a second, and as long as the machine is busy. */
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 });
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser.close());

it('shows 300 edits before, while and after they run, through a crash and a second start', async () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let begun = 0;
  // The first 40 are answered at once; the others wait for the door to open.
  const edit: QueueFunction = async () => {
    if (++begun > 40) await opened;
    return { picture: pixel, cost: 0.0875 };
  };
  const work = await openRehearsal({ key, workers: 100, functions: { queue: { quick: edit } } });
  await work.write('edits.csv', [
    'id,images,prompt',
    ...Array.from(
      { length: rows },
      (_, n) => `row-${n},https://pictures.example.test/${n}.png,"Look <b>${n}</b>"`,
    ),
  ]);
  const command = ['run', 'edits.csv', '--endpoint', 'quick', '--yes', '--concurrency', '8', '--quiet'];

  const watch = work.start('watch', 'edits.out');
  const url = (await watch.prints('Ctrl-C')).trim();
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(url);
  const flight = page.locator('#flight');
  expect(await flight.textContent()).toContain('No run has begun here yet');

  const first = work.start(...command);
  await soon(() => flight.locator('h2').textContent()).toContain(
    `Running: 8 rows in progress (PID ${first.child.pid})`,
  );
  // Rows that end later wait for a click.
  const newer = page.getByRole('button', { name: /^Show \d+ new$/ });
  await soon(async () => {
    if (await newer.isVisible()) await newer.click();
    return page.locator('.frame').count();
  }).toBe(40);
  await soon(() => flight.locator('.facts').textContent()).toContain('8 sending');
  await soon(() => flight.locator('.what').count()).toBe(8);
  expect(await flight.locator('.what').first().textContent()).toMatch(/^Look <b>\d+<\/b>$/);
  await soon(() => flight.locator('time').first().textContent()).toMatch(/^\d+ s$/);

  expect(await axeViolations(page)).toEqual([]);

  first.child.kill('SIGKILL');
  await first.ended;
  await soon(() => flight.textContent()).toContain('Stopped: the process ended without finishing');
  expect(await flight.textContent()).toContain(
    '8 rows were sent and no answer was seen: in doubt from the next run on.',
  );

  await soon(() => page.locator('h1').textContent()).toMatch(/^40 of 300 rows completed .* 260 to go\.$/);

  open();
  const second = await work.start(...command).ended;
  expect(second.code).toBe(6);
  await soon(() => flight.textContent()).toContain('The last start ended with exit code 6');
  await soon(() => page.locator('h1').textContent()).toMatch(
    /^292 of 300 rows completed .* 8 are in doubt, and \$0\.70 more may have been charged\.$/,
  );
  expect(complaints).toEqual([]);
  expect(asked.every((address) => address.startsWith(url) || address.startsWith('data:'))).toBe(true);
  expect(await page.content()).not.toContain(key);

  watch.child.kill('SIGINT');
  expect(await watch.ended).toMatchObject({ code: 0, signal: null });
  await soon(() => page.locator('#live').textContent()).toContain('Disconnected');
  await page.context().close();
  await work.close();
}, 60_000);
