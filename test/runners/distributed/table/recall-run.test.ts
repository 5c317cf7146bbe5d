import { expect, it } from 'vitest';
import { isCountedRight, recallRun, withdrawRows } from '../../../../runners/distributed/table/recall-run.js';
import { inTransaction } from '../../../../runners/distributed/database/transaction.js';
import { lockLedger } from '../../../../runners/distributed/table/run-ledger.js';
import { beginStart } from '../../../../runners/distributed/table/runs.js';
import { rowsOf, termsWith } from '../../../support/run-database.js';
import { until } from '../../../support/until.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

it('notices rows that were deleted by hand, and a start takes back what is left', async () => {
  const { database } = fleets;
  const fleet = await fleets.open(rowsOf(3));
  const { run } = fleet;
  expect(await isCountedRight(database, run)).toBe(true);
  await database.pool.query(
    'delete from millrace.rows where item = (select min(item::text)::uuid from millrace.rows where run = $1)',
    [run],
  );
  expect(await isCountedRight(database, run)).toBe(false);
  await withdrawRows(database, run, await recallRun(database, run));
  expect(await isCountedRight(database, run)).toBe(true);
  expect(await fleet.state()).toMatchObject({ open: 0, inFlight: 0, reserved: 0 });
});

it('lets only the latest start change the rows of a run', async () => {
  const { database } = fleets;
  const fleet = await fleets.open(rowsOf(3));
  const { run } = fleet;
  const first = await recallRun(database, run);
  const latest = await recallRun(database, run);
  const taken = { name: 'RunTaken', code: 'held' };
  const nothing = { spent: 0, unknown: 0, collected: 0 };
  await expect(withdrawRows(database, run, first)).rejects.toMatchObject(taken);
  await expect(beginStart(database, { run, start: first }, termsWith(), nothing)).rejects.toMatchObject(
    taken,
  );
  // Rows of the other start are there still.
  await expect(beginStart(database, { run, start: latest }, termsWith(), nothing)).rejects.toMatchObject(
    taken,
  );
  await withdrawRows(database, run, latest);
  // It lacks records.
  const behind = { ...nothing, collected: -1 };
  await expect(beginStart(database, { run, start: latest }, termsWith(), behind)).rejects.toMatchObject(
    taken,
  );
  await beginStart(database, { run, start: latest }, termsWith(), nothing);
  expect(await fleet.state()).toMatchObject({ open: 0, start: latest });
});

it('a transaction that waits for the ledger goes by what others have written meanwhile', async () => {
  const { database } = fleets;
  const { run } = await fleets.open(rowsOf(1));
  const first = await recallRun(database, run);
  const { pool } = database;
  const seen = await inTransaction(pool, async (on) => {
    await lockLedger(on, run);
    const waiting = inTransaction(pool, (other) => lockLedger(other, run));
    await until(async () => (await pool.query('select from pg_locks where not granted')).rowCount === 1);
    await on.query(`update millrace.runs set start = start + 1, stop = '{}' where run = $1`, [run]);
    return { waiting };
  });
  expect(await seen.waiting).toMatchObject({ start: first + 1, isStopped: true });
});
