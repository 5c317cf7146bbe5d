import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hurriedClock } from '../../../support/hurried-clock.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { until } from '../../../support/until.js';

let run: SharedRun;
beforeEach(async () => {
  run = await openSharedRun();
});
afterEach(() => run.close());

const rows = 40;
const options = { concurrency: 4, assumePriceUsd: 0.01 };
/** The collector counts the rows after a standstill of 20 s, and takes no worker for dead in its first 15 s: its seconds are short. */
const soon = { ...options, scheduler: hurriedClock(10) };

/** A run that goes on, until its database is damaged. Returns the end of the start. */
async function endAfter(damage: string, sleepMs = 300) {
  run.folder.manifest(
    Array.from({ length: rows }, (_, n) => ({ id: `r${n}`, endpoint: 'echo', input: { n, sleepMs } })),
  );
  const stop = await run.work();
  const collecting = run.collect(soon);
  await until(() => run.folder.text('results.jsonl').split('\n').length > 6);
  await change(damage);
  const end = await collecting;
  await stop();
  return end;
}

async function change(statement: string): Promise<void> {
  const database = new pg.Client(run.url);
  await database.connect();
  await database.query(statement).finally(() => database.end());
}

const nothingIsThere =
  /^The database of the runs? lacks a part of millrace's tables: relation ".*" does not exist\. .*--repair/;
const rowsAreGone = /^Rows of this run, or their places in the queues, were deleted .* start again\./;
const runIsGone =
  /^The database does not know run 1 any more: it was deleted there, whole or in part\. Start again/;

describe('a run whose tables another program damages ends with 74, and the next start buys what is left', () => {
  it.each([
    ['drops the queues', 'drop schema millrace_queue cascade', nothingIsThere],
    ['empties the queues', 'truncate millrace_queue.job cascade', rowsAreGone],
    [
      'deletes some places',
      'delete from millrace_queue.job where id > (select max(id::text)::uuid from (select id from millrace_queue.job order by id limit 10) as few)',
      rowsAreGone,
    ],
    ['deletes rows that wait', 'delete from millrace.rows where worker is null', rowsAreGone],
    ['sets the counts to zero', 'update millrace.ledgers set waiting = 0, in_flight = 0', rowsAreGone],
    ['deletes the ledger', 'delete from millrace.ledgers', runIsGone],
    ['deletes the gate', 'delete from millrace.gates', runIsGone],
  ])('%s', { timeout: 120_000 }, async (_, damage, reason) => {
    const end = await endAfter(damage);
    expect([end.exitCode, end.reason]).toEqual([74, expect.stringMatching(reason)]);
    expect(end.summary.rows.toDo).toBeGreaterThan(0);
    // Its worker may have left without giving its rows back.
    await change(`update millrace.workers set seen_at = seen_at - interval '1 hour'`);
    await run.work();
    const again = await run.collect(soon);
    expect([again.exitCode, again.reason]).toEqual([0, expect.anything()]);
    expect(again.summary.rows).toEqual({ total: rows, completed: rows, failed: 0, toDo: 0 });
    expect(run.folder.costs()).toHaveLength(rows);
    const inputs = run.emulator.bill().map(({ input }) => JSON.stringify(input));
    expect([inputs.length, new Set(inputs).size]).toEqual([rows, rows]);
  });
});

it('a worker that cannot read its runs any more awaits its requests on the wire, and says why it ends', async () => {
  // The worker looks for its runs every 5 s: its rows take longer together.
  const end = await endAfter('drop table millrace.callbacks', 1_500);
  expect([end.exitCode, end.reason]).toEqual([74, expect.stringMatching(nothingIsThere)]);
  expect(end.summary.rows.failed).toBe(0);
  const again = await run.collect(options);
  expect([again.exitCode, again.reason]).toEqual([
    74,
    expect.stringContaining("lacks a part of millrace's tables"),
  ]);
});
