// Writes the report of a large run in a process of its own and opens it in a browser: time, memory, size.
// node .config/run-ts.mjs test/bench/report/bench-report.ts [rows]
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchBrowser } from '../../support/browser.js';
import { makeRun } from '../../support/make-run.js';

await bench(Number(process.argv[2] ?? 100_000));

async function bench(rows: number): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const folder = join(parent, 'edits.out');
  await makeRun({ folder, rows, pictures: false });
  const call = ['.config/run-ts.mjs', 'test/bench/report/write-report-of.ts', folder];
  const written = JSON.parse(execFileSync(process.execPath, call, { encoding: 'utf8' })) as object;
  const page = { pageKb: Math.round((await stat(join(folder, 'report.html'))).size / 1024) };
  console.log({ rows, ...written, ...page, ...(await open(folder)) });
  await rm(parent, { recursive: true });
}

async function open(folder: string): Promise<{ openMs: number; searchMs: number }> {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  const begin = performance.now();
  await page.goto(pathToFileURL(join(folder, 'report.html')).href);
  await page.locator('.frame').first().waitFor();
  const opened = performance.now();
  await page.getByRole('searchbox').fill('chair-0012');
  await page.locator('.frame .id', { hasText: 'chair-0012' }).first().waitFor();
  const found = performance.now();
  await browser.close();
  return { openMs: Math.round(opened - begin), searchMs: Math.round(found - opened) };
}
