import { Subject } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StopOrder } from '../../../../runners/batch/run-batch.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun();
});
afterEach(() => run.close());

it('are fed as they arrive, and go to each host of the run', async () => {
  await run.work();
  const delivered: string[] = [];
  async function* rows() {
    for (const n of [1, 2, 3]) {
      yield { id: `r${n}`, endpoint: 'echo', input: { n } };
      // Whoever sends the next row waits for the result of this one.
      await until(() => delivered.includes(`r${n}`));
    }
    yield { id: 'call', route: '/echo', body: { a: 1 } };
  }
  const { exitCode, reason } = await run.collect({
    manifest: { rows: rows() },
    deliver: ({ id }) => void delivered.push(id),
  });
  expect([exitCode, reason]).toEqual([0, expect.anything()]);
  expect(delivered).toEqual(['r1', 'r2', 'r3', 'call']);
});

it('are left where a cap ends the run before them', async () => {
  await run.work();
  let isLeft = false;
  async function* rows() {
    try {
      for (let n = 0; ; n++) yield { id: `r${n}`, endpoint: 'echo', input: { n } };
    } finally {
      isLeft = true;
    }
  }
  const cap = { assumePriceUsd: 0.01, maxCostPerDayUsd: 0.02, ledgerFile: `${run.folder.path}/ledger.jsonl` };
  const { exitCode } = await run.collect({ manifest: { rows: rows() }, ...cap });
  expect([exitCode, isLeft, run.emulator.bill().length]).toEqual([3, true, 2]);
});

it('jobs of earlier starts are polled where the manifest has only routes', async () => {
  await run.work();
  run.folder.manifest([{ id: 'job', endpoint: 'echo', input: { sleepMs: 3_000 } }]);
  const stop = new Subject<StopOrder>();
  const first = run.collect({ stop });
  await until(() => run.folder.text('journal.jsonl').includes('"k":"accepted"'));
  stop.next('graceful');
  expect((await first).exitCode).toBe(130);
  run.folder.manifest([{ id: 'call', route: '/echo', body: { a: 1 } }]);
  const { exitCode, reason } = await run.collect({ add: true });
  expect([exitCode, reason]).toEqual([0, expect.anything()]);
  expect(
    run.folder
      .lines('results.jsonl')
      .map(({ id }) => id)
      .sort(),
  ).toEqual(['call', 'job']);
  expect(run.emulator.bill()).toHaveLength(2);
});
