import { Subject } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { runBatch, type RunBatchOptions, type StopOrder } from '../../../../runners/batch/run-batch.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { finished } from '../../../support/run-folder.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

let run: SharedRun;
let isCut = false;
let isFull = false;
beforeEach(async () => {
  const faultOf = ({ operation }: { operation: string }) =>
    operation !== 'run' ? '' : isFull ? '429:5' : isCut ? 'cut' : '';
  run = await openSharedRun(database, { faultOf });
  await run.work();
});
afterEach(() => run.close());

const rows = (count: number, input: object = {}) =>
  run.folder.manifest(
    Array.from({ length: count }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, ...input } })),
  );
const priced = (capUsd: number) => ({ assumePriceUsd: 0.01, concurrency: 1, maxCostUsd: capUsd });

/** A start without a database. */
function here(options: Partial<RunBatchOptions>) {
  const { apiKey: key, baseUrl, lbBaseUrl } = run.emulator;
  return run.folder.run({ key, baseUrl, lbBaseUrl }, options);
}

it('is under the cap while a purchase is in doubt, and free again once it is settled', async () => {
  rows(1);
  isCut = true;
  expect((await here(priced(0.03))).exitCode).toBe(6);
  isCut = false;
  rows(6);
  const first = await run.collect(priced(0.03));
  expect([first.exitCode, first.summary.rows.completed]).toEqual([3, 2]);
  expect(first.summary.cost).toMatchObject({ estimated: 0.02, unknown: 0.01 });
  expect(await run.call('settle', 'out', 'r0', '--not-sent', '--db', run.url)).toMatchObject({ code: 0 });
  const second = await run.collect(priced(0.03));
  expect([second.exitCode, second.summary.rows.completed]).toEqual([3, 3]);
  expect(second.summary.cost).toMatchObject({ estimated: 0.03, unknown: 0 });
});

it('counts what starts without a database have bought since', async () => {
  rows(2);
  expect((await run.collect(priced(1))).exitCode).toBe(0);
  rows(4);
  expect((await here(priced(1))).exitCode).toBe(0);
  rows(8);
  const last = await run.collect(priced(0.05));
  expect([last.exitCode, last.summary.rows.completed, run.emulator.bill().length]).toEqual([3, 5, 5]);
});

it('counts what a start without a database has reserved', async () => {
  const path = rows(1, { sleepMs: 300 });
  const { apiKey, baseUrl } = run.emulator;
  const stop = new Subject<StopOrder>();
  const start = runBatch({ manifest: { path }, out: run.folder.out, apiKey, baseUrl, stop, ...priced(1) });
  start.subscribe((event) => {
    if (event.type === 'row' && event.event.type === 'accepted') stop.next('now');
  });
  expect((await finished(start)).exitCode).toBe(130);
  rows(6, { sleepMs: 300 });
  const there = await run.collect(priced(0.03));
  expect([there.exitCode, there.summary.rows.completed, run.emulator.bill().length]).toEqual([3, 3, 3]);
});

it('counts the rows of axes by their values, and caps each value', async () => {
  const path = rows(3);
  const manifest = (...styles: string[]) => ({ path, each: { 'input.style': styles } });
  const byStyle = async (options: Partial<RunBatchOptions>) => {
    const { exitCode, summary } = await run.collect({ assumePriceUsd: 0.01, ...options });
    const values = Object.entries(summary.cost.by?.['input.style']?.values ?? {});
    return {
      exitCode,
      bought: Object.fromEntries(values.map(([style, { estimated }]) => [style, estimated])),
    };
  };
  const capped = { costBy: ['input.style'], maxCostByUsd: { 'input.style': 0.02 } };
  expect(await byStyle({ manifest: manifest('oil', 'ink'), ...capped })).toEqual({
    exitCode: 3,
    bought: { oil: 0.02, ink: 0.02 },
  });
  expect(await byStyle({ manifest: manifest('oil', 'ink', 'wax') })).toEqual({
    exitCode: 3,
    bought: { oil: 0.02, ink: 0.02, wax: 0.02 },
  });
  expect(run.emulator.bill()).toHaveLength(6);
  const raised = { maxCostByUsd: { 'input.style': 0.03 } };
  expect(await byStyle({ manifest: manifest('oil', 'ink', 'wax'), ...raised })).toEqual({
    exitCode: 0,
    bought: { oil: 0.03, ink: 0.03, wax: 0.03 },
  });
  const sent = run.emulator.bill().map(({ input }) => JSON.stringify(input));
  expect([sent.length, new Set(sent).size]).toEqual([9, 9]);
});

it('does not count what was reserved for a row that was refused when the start was stopped', async () => {
  rows(1);
  isFull = true;
  const stop = new Subject<StopOrder>();
  const start = run.collect({ ...priced(1), stop });
  await until(() => run.folder.lines('journal.jsonl').some(({ k }) => k === 'refused'));
  stop.next('graceful');
  const end = await start.finally(() => (isFull = false));
  expect([end.exitCode, end.summary.rows.toDo, run.emulator.bill()]).toEqual([130, 1, []]);
  expect(end.summary.cost).not.toHaveProperty('reserved');
});
