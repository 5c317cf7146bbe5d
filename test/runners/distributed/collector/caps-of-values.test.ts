import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

const payers = ['acme', 'beta', 'a "b"\\ \u0000ö', ''];
const payerOf = (id: string): string => payers[Number(id.slice(1)) % payers.length] ?? '';

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun(database);
  await run.work({ slots: 4 });
  await run.work({ slots: 4 });
});
afterEach(() => run.close());

const rows = (count: number): string =>
  run.folder.manifest(
    Array.from({ length: count }, (_, n) => {
      const customer = payerOf(`r${n}`);
      return { id: `r${n}`, endpoint: 'echo', input: { n }, ...(customer !== '' && { customer }) };
    }),
  );
const options = { assumePriceUsd: 0.01, concurrency: 8 };

/** How many rows of each payer the service has worked on. */
function done(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { input } of run.emulator.bill() as unknown as { input: { n: number } }[])
    counts[payerOf(`r${input.n}`)] = (counts[payerOf(`r${input.n}`)] ?? 0) + 1;
  return counts;
}

it('leave rows that do not fit to be done, while workers go on with others; they are remembered and raised', async () => {
  rows(40);
  const first = await run.collect({ ...options, maxCostByUsd: { customer: 0.03 } });
  expect([first.exitCode, first.summary.rows]).toEqual([
    3,
    { total: 40, completed: 12, failed: 0, toDo: 28 },
  ]);
  expect(first.reason).toMatch(/^Rows are left at the caps of their values: customer .* 28 rows to go\.$/);
  const costs = {
    purchases: 3,
    reported: 0,
    estimated: 0.03,
    unknown: 0,
    completed: 3,
    failed: 0,
    held: 0,
    undownloaded: 0,
  };
  expect(first.summary.cost.by).toEqual({
    customer: { values: Object.fromEntries(payers.map((payer) => [payer, costs])) },
  });
  expect((await run.collect(options)).exitCode).toBe(3);
  expect(run.emulator.bill().length).toBe(12);
  const raised = await run.collect({ ...options, maxCostByUsd: { customer: 0.05 } });
  expect([raised.exitCode, run.emulator.bill().length]).toEqual([3, 20]);
  const lifted = await run.collect({ ...options, maxCostByUsd: null });
  expect([lifted.exitCode, run.emulator.bill().length]).toEqual([0, 40]);
});

it('count the rows of one value that a worker takes at once', async () => {
  const row = (n: number) => ({ id: `r${n}`, endpoint: 'echo', input: { n }, customer: 'acme' });
  run.folder.manifest(Array.from({ length: 20 }, (_, n) => row(n)));
  const end = await run.collect({ ...options, maxCostByUsd: { customer: 0.02 } });
  expect([end.exitCode, run.emulator.bill().length]).toEqual([3, 2]);
});

it('are exact while rows come back from workers that die, and the bill is that of the books', async () => {
  rows(40);
  const stuck = await run.workUntil('answered');
  const start = run.collect({ ...options, maxCostByUsd: { customer: 0.05 } });
  await stuck.isStuck;
  await stuck.passAway();
  const end = await start;
  stuck.goOn();
  expect(end.exitCode).toBe(3);
  for (const { estimated, unknown } of Object.values(end.summary.cost.by?.['customer']?.values ?? {}))
    expect(estimated + unknown).toBeLessThanOrEqual(0.05);
  for (const count of Object.values(done())) expect(count).toBeLessThanOrEqual(5);
});

it('are told of once where so much is taken, by the records of the workers, and not again by a later start', async () => {
  rows(40);
  const warned = ({ events }: Awaited<ReturnType<SharedRun['collect']>>): string[] =>
    events.flatMap((event) => (event.type === 'warning' && event.code === 'warn-at' ? [event.message] : []));
  const caps = {
    maxCostUsd: 0.5,
    maxCostByUsd: { customer: 0.05 },
    warnAt: { percent: 40 },
  };
  const texts = warned(await run.collect({ ...options, ...caps }));
  expect(texts.filter((text) => text.includes(' of --max-cost are '))).toEqual([
    expect.stringMatching(/^\$0\.20 of the \$0\.50 /),
  ]);
  for (const payer of payers) {
    const name = ` of --max-cost-by customer ${payer === '' ? '(none)' : JSON.stringify(payer)} are `;
    expect(texts.filter((text) => text.includes(name))).toHaveLength(1);
  }
  expect(texts).toHaveLength(payers.length + 1);
  expect(warned(await run.collect({ ...options, warnAt: caps.warnAt }))).toEqual([]);
});
