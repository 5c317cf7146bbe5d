import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../../../runners/distributed/database/transaction.js';
import { commitGroup } from '../../../../runners/distributed/table/commit-group.js';
import { lockLedger } from '../../../../runners/distributed/table/run-ledger.js';
import { readState } from '../../../../runners/distributed/table/run-state.js';
import { countSeats } from '../../../../runners/distributed/table/recall-run.js';
import { takeSeat } from '../../../../runners/distributed/table/seats.js';
import { createSweeper, noteWorker, sweep } from '../../../../runners/distributed/table/worker-record.js';
import { openFleet } from '../../../support/fleet.js';
import { groupOf, openRunDatabase, rowsOf, type RunDatabase } from '../../../support/run-database.js';

let database: RunDatabase;
beforeAll(async () => {
  database = await openRunDatabase();
});
afterAll(() => database.close());

const idle = { sends: 0, polls: 0, saves: 0 };
const isClock = (text: string): boolean => text.startsWith('select extract(epoch from clock_timestamp())');

it('takes nobody for dead until the database has been back, and its clock steady, for a while', async () => {
  const fleet = await openFleet(database, rowsOf(1));
  const seat = { run: fleet.run, worker: '00000000-0000-4000-8000-000000000001' };
  await takeSeat(database.pool, seat);
  const claim = { worker: seat.worker, start: 1, has: 0, most: { send: 1, poll: 0 }, priceOf: () => 100_000 };
  expect((await commitGroup(database, seat, groupOf(1, { claim }))).claimed).toHaveLength(1);
  let now = 0;
  let ahead = 0;
  let isAway = true;
  const pool = new Proxy(database.pool, {
    get: (target, name) =>
      name === 'query'
        ? (text: string, values: unknown[]) => {
            if (isAway) return Promise.reject(new Error('away'));
            return isClock(text) ? { rows: [{ now: now + ahead }] } : target.query(text, values);
          }
        : (Reflect.get(target, name, target) as unknown),
  });
  const sweep = createSweeper({ pool, queue: database.queue }, () => now);
  await expect(sweep()).rejects.toThrow('away');
  isAway = false;
  await sweep();
  now = 14_999;
  await sweep();
  expect((await readState(database, fleet.run)).inFlight).toBe(1);
  now = 15_000;
  // All heartbeats are hours old by it.
  ahead = 7_200_000;
  await sweep();
  now = 29_999;
  await sweep();
  expect((await readState(database, fleet.run)).inFlight).toBe(1);
  now = 30_000;
  // What the clock was before is not known to a process that starts now.
  await createSweeper({ pool, queue: database.queue }, () => now)();
  expect((await readState(database, fleet.run)).inFlight).toBe(1);
  await sweep();
  expect(await readState(database, fleet.run)).toMatchObject({ inFlight: 0, open: 1, reserved: 0 });
  await fleet.close();
});

it('releases rows of a worker whose seat was deleted by hand, for which a new start waits', async () => {
  const fleet = await openFleet(database, rowsOf(1));
  const { run } = fleet;
  const seat = { run, worker: '00000000-0000-4000-8000-000000000002' };
  await takeSeat(database.pool, seat);
  const claim = { worker: seat.worker, start: 1, has: 0, most: { send: 1, poll: 0 }, priceOf: () => 100_000 };
  await commitGroup(database, seat, groupOf(1, { claim }));
  await database.pool.query('delete from millrace.seats');
  expect(await countSeats(database, run)).toEqual({ seats: 1, rows: 1 });
  await sweep(database);
  expect(await countSeats(database, run)).toEqual({ seats: 0, rows: 0 });
  expect(await readState(database, run)).toMatchObject({ inFlight: 0, open: 1, reserved: 0 });
  await fleet.close();
});

it('gives up a seat that this worker has left, where the database has it again: a new start would wait for it', async () => {
  const fleet = await openFleet(database, rowsOf(1));
  const { run } = fleet;
  const worker = '00000000-0000-4000-8000-000000000004';
  await takeSeat(database.pool, { run, worker });
  await noteWorker(database.pool, { worker, host: 'here', pid: 1, does: idle });
  await sweep(database);
  await sweep(database, { worker, has: (one) => one === run });
  expect(await countSeats(database, run)).toEqual({ seats: 1, rows: 0 });
  await sweep(database, { worker, has: () => false });
  expect(await countSeats(database, run)).toEqual({ seats: 0, rows: 0 });
  await fleet.close();
});

it('does not hold up the other workers to judge one that is silent', async () => {
  const fleet = await openFleet(database, rowsOf(1));
  const { run } = fleet;
  const seat = { run, worker: '00000000-0000-4000-8000-000000000003' };
  await takeSeat(database.pool, seat);
  await noteWorker(database.pool, { worker: seat.worker, host: 'here', pid: 1, does: idle });
  const claim = { worker: seat.worker, start: 1, has: 0, most: { send: 1, poll: 0 }, priceOf: () => 100_000 };
  await commitGroup(database, seat, groupOf(1, { claim }));
  const silentFor = (seconds: number) =>
    database.pool.query(`update millrace.workers set seen_at = now() - $1 * interval '1 s'`, [seconds]);
  await silentFor(20);
  await inTransaction(database.pool, async (on) => {
    await lockLedger(on, run);
    await sweep(database);
  });
  expect(await countSeats(database, run)).toEqual({ seats: 1, rows: 1 });
  await silentFor(45);
  await sweep(database);
  expect(await countSeats(database, run)).toEqual({ seats: 0, rows: 0 });
  await fleet.close();
});
