import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Figure } from './figure.js';
import { clientCpu } from './parts/client-cpu.js';
import { rowCost } from './parts/row-cost.js';
import { throughput } from './parts/throughput.js';
import { webhooks } from './parts/webhooks.js';
import { readResults, refuseSameNames, resultsPage } from './results-page.js';

/** What `npm run bench` measures within this process, once and small: nothing is asserted of how fast it is. */
it('the bench still runs, and every figure of it is a number', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const file = join(folder, 'edits.csv');
  await writeFile(file, 'images,prompt,resolution\nhttps://pictures.example/1.png,make it blue,1k\n');
  const figures: Figure[] = [
    ...(await clientCpu(1, { perRound: 10, warmUp: 0 })),
    ...(await throughput(1, 20)),
    ...(await webhooks(20, 1)),
    ...(await rowCost(file, 1, 1)),
  ];
  await rm(folder, { recursive: true });
  expect(figures.filter(({ median }) => !Number.isFinite(median))).toStrictEqual([]);
  const page = resultsPage({
    date: '2026-11-21T00:00:00Z',
    machine: { cpu: 'one', cores: 1, node: 'v20' },
    figures,
  });
  for (const { what } of figures) expect(page).toContain(`| ${what} |`);
});

it.each(['test/bench/results.json', 'test/bench/distributed/results.json'])(
  'in %s each figure has a name of its own',
  async (path) => {
    const { figures } = await readResults(path);
    expect(figures.length).toBeGreaterThan(10);
    expect(() => refuseSameNames(figures)).not.toThrow();
  },
);
