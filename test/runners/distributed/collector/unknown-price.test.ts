import { expect, it } from 'vitest';
import { openSharedRun } from '../../../support/shared-run.js';

it('stops all workers at the first price of rows of no known price that cost more together than was agreed to', async () => {
  const dear = async (_: unknown, job: { sleep: (ms: number) => Promise<void> }) => {
    await job.sleep(20);
    return { cost: 1 };
  };
  const run = await openSharedRun(undefined, { functions: { queue: { dear } } });
  for (let worker = 0; worker < 3; worker += 1) await run.work({ slots: 4 });
  run.folder.manifest(
    Array.from({ length: 80 }, (_, n) => ({ id: `r${n}`, endpoint: 'dear', input: { n } })),
  );
  const end = await run.collect({ concurrency: 8, maxUnpricedUsd: 25 });
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
