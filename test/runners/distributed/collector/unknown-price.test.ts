import { expect, it } from 'vitest';
import { openSharedRun } from '../../../support/shared-run.js';

const dear = async (_: unknown, job: { sleep: (ms: number) => Promise<void> }) => {
  await job.sleep(20);
  return { cost: 1 };
};

it('stops all workers at the first price of rows of no known price that cost more together than was agreed to', async () => {
  const run = await openSharedRun(undefined, { functions: { queue: { dear } } });
  for (let worker = 0; worker < 3; worker += 1) await run.work({ slots: 4 });
  run.folder.manifest(
    Array.from({ length: 80 }, (_, n) => ({ id: `r${n}`, endpoint: 'dear', input: { n } })),
  );
  const end = await run.collect({ concurrency: 8, unlessCapped: { maxUnpricedUsd: 25 } });
  expect(end.exitCode).toBe(3);
  expect(end.reason).toContain(
    'the service charges $1.00 for dear, whose price was not known: 80 such rows cost $80.00, and nobody has agreed to that',
  );
  const bought = run.emulator.bill().length;
  // Each worker begins no row behind the first price that it sees: four rows of each are on their way then.
  expect(bought).toBeLessThanOrEqual(12);
  expect(end.summary.cost.reported).toBe(bought);
  expect((await run.collect({ concurrency: 8 })).exitCode).toBe(0);
  expect(run.emulator.bill()).toHaveLength(80);
  await run.close();
});

it('stops all workers at a price far above the expected one, unless a cap is in force', async () => {
  const run = await openSharedRun(undefined, { functions: { queue: { dear } } });
  for (let worker = 0; worker < 2; worker += 1) await run.work({ slots: 4 });
  run.folder.manifest(
    Array.from({ length: 40 }, (_, n) => ({ id: `r${n}`, endpoint: 'dear', input: { n } })),
  );
  const limits = { concurrency: 4, assumePriceUsd: 0.1, unlessCapped: { maxPriceDriftPercent: 100 } };
  const end = await run.collect(limits);
  expect(end.exitCode).toBe(3);
  expect(end.reason).toContain('900 % over the estimate, and 100 % is allowed');
  expect(run.emulator.bill().length).toBeLessThanOrEqual(8);
  expect((await run.collect({ ...limits, maxCostUsd: 50 })).exitCode).toBe(0);
  expect(run.emulator.bill()).toHaveLength(40);
  await run.close();
});

it('stops at a worker that has spent more on rows whose price is in no list than was agreed to', async () => {
  const rising = ({ n }: Record<string, unknown>) => ({ cost: Number(n) < 3 ? 0.01 : 1 });
  const run = await openSharedRun(undefined, { functions: { queue: { rising } } });
  await run.work({ slots: 2 });
  run.folder.manifest(
    Array.from({ length: 60 }, (_, n) => ({ id: `r${n}`, endpoint: 'rising', input: { n } })),
  );
  const end = await run.collect({ concurrency: 2, unlessCapped: { maxUnpricedUsd: 25 } });
  expect(end.exitCode).toBe(3);
  // Both rows may end in one group.
  expect(end.reason).toMatch(/rows without a listed price have cost \$2[56]\.03 in this start/);
  expect(run.emulator.bill().length).toBeLessThanOrEqual(28 + 2);
  await run.close();
});

it('adds up what the workers have spent on rows whose price is in no list', async () => {
  const rising = async ({ n }: Record<string, unknown>, job: { sleep: (ms: number) => Promise<void> }) => {
    await job.sleep(400);
    return { cost: Number(n) < 12 ? 0.01 : 1 };
  };
  const run = await openSharedRun(undefined, { functions: { queue: { rising } } });
  for (let worker = 0; worker < 3; worker += 1) await run.work({ slots: 2 });
  run.folder.manifest(
    Array.from({ length: 100 }, (_, n) => ({ id: `r${n}`, endpoint: 'rising', input: { n } })),
  );
  const end = await run.collect({ concurrency: 6, unlessCapped: { maxUnpricedUsd: 25 } });
  expect(end.exitCode).toBe(3);
  expect(end.reason).toMatch(/rows without a listed price have cost \$2[5-9]\.\d\d in this start/);
  // Each worker by itself would spend $25.
  expect(run.emulator.bill().length).toBeLessThan(50);
  await run.close();
});
