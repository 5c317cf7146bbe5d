import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PendingRow } from '../../../../runners/batch/journal/journal.js';
import { recordsOfSent } from '../../../../runners/batch/row/left-rows.js';
import type { RowRecord } from '../../../../runners/batch/row/record-head.js';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { recallRun } from '../../../../runners/distributed/table/recall-run.js';
import { beginStart, makeRun } from '../../../../runners/distributed/table/runs.js';
import { runWorker } from '../../../../runners/distributed/worker/run-worker.js';
import { feedRows } from '../../../support/fleet.js';
import { rowsOf, termsWith } from '../../../support/run-database.js';
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
  // Workers may be in the way.
  const dropped = () => change('drop schema millrace cascade; drop schema millrace_queue cascade');
  await until(() =>
    dropped().then(
      () => true,
      () => false,
    ),
  );
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

it('--repair counts the rows in doubt under the cap: rows behind them were bought beyond it', async () => {
  const rows = Array.from({ length: 8 }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n } }));
  run.folder.manifest(rows.slice(0, 4));
  const options = { assumePriceUsd: 0.01, maxCostUsd: 0.05 };
  const collecting = run.collect(options);
  await until(
    async () =>
      (await read<{ fed: number }>('select fed from millrace.ledgers').catch(() => []))[0]?.fed === 1,
  );
  await change('drop schema millrace cascade; drop schema millrace_queue cascade');
  expect((await collecting).exitCode).toBe(74);
  run.folder.manifest(rows);
  await run.work();
  const { summary } = await run.collect({ ...options, repair: true });
  expect([summary.rows, summary.cost]).toMatchObject([
    { completed: 1, failed: 4, toDo: 3 },
    { unknown: 0.04 },
  ]);
  expect(run.emulator.bill()).toHaveLength(1);
});

it.each([
  ['completed', { completed: 4, failed: 0 }, {}],
  ['failed', { completed: 0, failed: 4 }, { fail: 'out of memory' }],
])(
  '--repair leaves what the folder knows to be %s where the database has lost the answer, and calls its request unanswered',
  async (_, ends, input) => {
    run.folder.manifest(
      Array.from({ length: 4 }, (__, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, ...input } })),
    );
    const options = { assumePriceUsd: 0.01, maxCostUsd: 1 };
    await run.work();
    const before = await run.collect(options);
    const written = await read<{ record: string }>('select record from millrace.records order by seq');
    const records = written.map(({ record }) => JSON.parse(record) as RowRecord);
    const intents = records.filter((record) => record.k === 'intent');
    const intent = intents.find(({ id }) => id === records.at(-1)?.id);
    const pending = {
      id: intent?.id,
      status: 'sent',
      attempts: 1,
      intent,
      price: intent?.price,
    } as PendingRow;
    const [unknown] = recordsOfSent(pending, Date.now(), false);
    await change(
      `update millrace.records set record = '${JSON.stringify(unknown)}' where seq = (select max(seq) from millrace.records)`,
    );
    expect((await run.collect(options)).exitCode).toBe(74);
    const { exitCode, summary } = await run.collect({ ...options, repair: true });
    expect(before.summary.rows).toMatchObject(ends);
    const { rows, cost, statusCalls } = before.summary;
    expect([exitCode, summary.rows, summary.cost]).toEqual([0, rows, cost]);
    expect(summary.statusCalls).toBe(statusCalls);
    expect(results()).toBe(ends.completed);
    expect(run.folder.text('failures.jsonl').split('\n')).toHaveLength(ends.failed + 1);
    expect(run.folder.text('costs.csv').trim().split('\n')).toHaveLength(5);
    expect((await run.collect(options)).exitCode).toBe(0);
    expect(run.emulator.bill()).toHaveLength(4);
  },
);

/** As a restored backup or a promoted standby looks to whoever compares it with what the start has noted. */
const moved = `update millrace.runs set timeline = 'another'`;

it.each([
  ['--repair holds what may have been bought', '', true],
  ['a person says that nothing is missing', 'update millrace.runs set timeline = null', false],
])(
  'stops where the database is another one than at the start, with the collector and all that it has copied; %s',
  async (_, answer, repair) => {
    run.folder.manifest(
      Array.from({ length: 60 }, (__, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, sleepMs: 100 } })),
    );
    await run.work();
    const collecting = run.collect({ concurrency: 2 });
    await until(() => results() >= 6);
    await change(moved);
    const end = await collecting;
    expect([end.exitCode, end.reason]).toEqual([74, expect.stringContaining('or a standby took its place')]);
    const bought = run.emulator.bill().length;
    expect(bought).toBeLessThan(60);
    await run.work();
    expect((await run.collect({ concurrency: 2 })).exitCode).toBe(74);
    expect(run.emulator.bill()).toHaveLength(bought);
    if (answer !== '') await change(answer);
    const { exitCode, summary } = await run.collect({ concurrency: 2, repair });
    expect([exitCode, summary.rows.toDo]).toEqual([repair ? 6 : expect.any(Number), 0]);
    expect(summary.rows.completed).toBeGreaterThanOrEqual(repair ? 6 : 58);
    expect(isEachBoughtOnce()).toBe(true);
  },
);

it('stops again where a further standby takes the place of the one that a person has found nothing missing in', async () => {
  const promote = (name: string) =>
    change(
      `create or replace function millrace.timeline() returns text language sql as $$ select '${name}' $$`,
    );
  const confirm = () => change('update millrace.runs set timeline = null');
  run.folder.manifest(
    Array.from({ length: 40 }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, sleepMs: 100 } })),
  );
  await run.work();
  const collecting = run.collect({ concurrency: 2 });
  await until(() => results() >= 4);
  await promote('the first standby');
  expect((await collecting).exitCode).toBe(74);
  const bought = run.emulator.bill().length;
  await confirm();
  await promote('the second standby');
  await run.work();
  const again = await run.collect({ concurrency: 2 });
  expect([again.exitCode, again.reason]).toEqual([
    74,
    expect.stringContaining('or a standby took its place'),
  ]);
  expect(run.emulator.bill()).toHaveLength(bought);
  await confirm();
  expect((await run.collect({ concurrency: 2 })).exitCode).toBe(0);
  expect(run.emulator.bill()).toHaveLength(40);
});

it('an orderly switchover leaves no row in doubt: answers that were on the wire are written into the new database', async () => {
  const rows = 60;
  run.folder.manifest(
    Array.from({ length: rows }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, sleepMs: 1_500 } })),
  );
  const manifest = { path: `${run.folder.path}/manifest.jsonl`, mode: 'sync' as const };
  await run.work();
  await run.work();
  const collecting = run.collect({ manifest, concurrency: 20 });
  await until(() => results() >= 1);
  // Between two transactions, as a switchover comes.
  await change(`begin; select from millrace.ledgers for update; ${moved}; commit`);
  const { exitCode, summary } = await collecting;
  const bought = run.emulator.bill().length;
  expect([exitCode, summary.rows]).toMatchObject([74, { completed: bought, failed: 0, toDo: rows - bought }]);
  expect(bought).toBeLessThan(rows);
  await change('update millrace.runs set timeline = null');
  await run.work();
  const end = await run.collect({ manifest, concurrency: 20 });
  expect([end.exitCode, end.summary.rows]).toMatchObject([0, { completed: rows, toDo: 0 }]);
  expect(run.emulator.bill()).toHaveLength(rows);
  expect(isEachBoughtOnce()).toBe(true);
});

it('a worker buys no row of a restored backup: its rows may have been bought since', async () => {
  const backup = `${new URL(run.url).pathname.slice(1)}_backup`;
  const url = run.url.replace(/[^/]*$/, backup);
  const { apiKey, baseUrl, lbBaseUrl } = run.emulator;
  const identity = { baseUrl, lbBaseUrl, local: false };
  const before = await connectDatabase({ url: run.url });
  const number = await makeRun(before, 'a run');
  const start = await recallRun(before, number);
  await beginStart(before, { run: number, start }, termsWith({ identity }), {
    spent: 0,
    unknown: 0,
    collected: 0,
  });
  await feedRows(before, number, rowsOf(5));
  await before.close();
  const other = new pg.Client(run.url.replace(/[^/]*$/, 'postgres'));
  await other.connect();
  const copy = () => other.query(`create database ${backup} template ${backup.replace('_backup', '')}`);
  await until(() =>
    copy().then(
      () => true,
      () => false,
    ),
  );
  const restored = await connectDatabase({ url });
  const end = await runWorker({ database: restored, apiKey, baseUrl, lbBaseUrl });
  await restored.close();
  await other.query(`drop database ${backup} with (force)`).finally(() => other.end());
  expect(end).toMatchObject({
    exitCode: 74,
    reason: expect.stringContaining('restored from a backup') as string,
  });
  expect(run.emulator.bill()).toEqual([]);
  await run.work();
  await until(() => run.emulator.bill().length === 5);
});
