import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun();
});
afterEach(() => run.close());

const results = () => run.folder.text('results.jsonl').split('\n').length - 1;

/** The ledger first: workers lock it before they write records. */
const withoutRecords = 'update millrace.ledgers set seq = 0; delete from millrace.records';

it.each([
  ['and has fewer records', withoutRecords],
  ['and lacks commits of a worker that the folder lacks too', 'update millrace.seats set groups = 0'],
  ['and has others since', `update millrace.records set record = replace(record, '"at":1', '"at":2')`],
])(
  'stops where the database is put back %s: nothing is copied behind a gap [fault 19b]',
  async (_, putBack) => {
    const rows = Array.from({ length: 400 }, (__, n) => ({
      id: `r${n}`,
      endpoint: 'echo',
      input: { n, sleepMs: 100 },
    }));
    run.folder.manifest(rows);
    await run.work();
    const collecting = run.collect({ concurrency: 2 });
    await until(() => results() >= 6);
    await change(putBack);
    const end = await collecting;
    expect([end.exitCode, end.reason]).toEqual([
      74,
      expect.stringContaining('was put back to an earlier state'),
    ]);
    const again = await run.collect({ concurrency: 2 });
    expect(again.exitCode).toBe(74);
    // The worker may have sent the rows that it had at the stop.
    const bought = run.emulator.bill().length;
    expect(bought).toBeLessThan(rows.length);
    // The first one has ended if it has noticed it itself.
    await run.work();
    const repaired = await run.collect({ concurrency: 2, repair: true });
    expect([repaired.summary.rows.toDo, repaired.reason]).toEqual([0, expect.stringContaining('in doubt')]);
    expect(run.emulator.bill()).toHaveLength(bought);
    const inputs = run.emulator.bill().map(({ input }) => JSON.stringify(input));
    expect(new Set(inputs).size).toBe(inputs.length);
  },
);

const read = async <T extends pg.QueryResultRow>(statement: string): Promise<T[]> => {
  const database = new pg.Client(run.url);
  await database.connect();
  return (await database.query<T>(statement).finally(() => database.end())).rows;
};
const change = async (statement: string): Promise<void> => {
  await read(statement);
};

const isEachBoughtOnce = () => {
  const inputs = run.emulator.bill().map(({ input }) => JSON.stringify(input));
  return new Set(inputs).size === inputs.length;
};

it('stops where the database has forgotten rows that were fed: they would never be done, and their workers may have bought them', async () => {
  run.folder.manifest(
    Array.from({ length: 510 }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n } })),
  );
  const collecting = run.collect({ concurrency: 20 });
  const fed = () => read<{ fed: number }>('select fed from millrace.ledgers').catch(() => []);
  await until(async () => (await fed())[0]?.fed === 2);
  await change(`
    with gone as (delete from millrace.rows where (task::json -> 'row' ->> 'row')::int > 500 returning item),
      left_queue as (delete from millrace_queue.job where id in (select item from gone))
    update millrace.ledgers set waiting = 500, fed = 1`);
  await run.work();
  const end = await collecting;
  expect([end.exitCode, end.reason]).toEqual([
    74,
    expect.stringContaining('was put back to an earlier state'),
  ]);
  expect((await run.collect()).exitCode).toBe(74);
  const repaired = await run.collect({ repair: true });
  expect([repaired.exitCode, repaired.summary.rows]).toMatchObject([
    6,
    { completed: 500, failed: 10, toDo: 0 },
  ]);
  expect(isEachBoughtOnce()).toBe(true);
});

it('--repair holds the rows that were fed, however far they are from each other in the manifest', async () => {
  const apart = 1_100;
  run.folder.manifest(
    Array.from({ length: 10 * apart }, (_, n) => ({
      id: `r${n}`,
      endpoint: 'echo',
      input: { n, sleepMs: 300 },
    })),
  );
  const options = { concurrency: 2, only: Array.from({ length: 10 }, (_, n) => `r${n * apart}`) };
  await run.work();
  const collecting = run.collect(options);
  await until(() => results() >= 2);
  await change(withoutRecords);
  expect((await collecting).exitCode).toBe(74);
  const { exitCode, summary } = await run.collect({ ...options, repair: true });
  expect([exitCode, summary.rows.completed + summary.rows.failed]).toEqual([6, 10]);
  expect(isEachBoughtOnce()).toBe(true);
});

it('--repair goes on where the database is lost: rows that workers may have bought are in doubt', async () => {
  run.folder.manifest(
    Array.from({ length: 40 }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, sleepMs: 100 } })),
  );
  // Under the cap of a day, only a few rows are fed ahead.
  const ledgerFile = join(run.folder.path, 'ledger.jsonl');
  const options = { concurrency: 1, assumePriceUsd: 0.01, maxCostPerDayUsd: 1, ledgerFile };
  const worker = await run.work();
  const collecting = run.collect(options);
  await until(() => results() >= 3);
  await change('drop schema millrace cascade; drop schema millrace_queue cascade');
  const end = await collecting;
  expect([end.exitCode, end.reason]).toEqual([
    74,
    expect.stringMatching(/^The database of the runs? lacks a part of millrace's tables/),
  ]);
  await worker().catch(() => undefined);
  const refused = await run.collect(options);
  expect([refused.exitCode, refused.reason]).toEqual([
    2,
    expect.stringContaining('--repair goes on without it'),
  ]);
  await run.work();
  const repaired = await run.collect({ ...options, repair: true });
  const { completed, failed, toDo } = repaired.summary.rows;
  expect([repaired.exitCode, completed + failed, toDo]).toEqual([6, 40, 0]);
  expect(failed).toBeLessThan(10);
  expect(isEachBoughtOnce()).toBe(true);
});
