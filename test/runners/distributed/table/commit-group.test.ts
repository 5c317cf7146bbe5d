import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowTask } from '../../../../runners/batch/row/row-after.js';
import { recordChannel, workChannel } from '../../../../runners/distributed/database/transaction.js';
import { commitGroup, type NextGroup } from '../../../../runners/distributed/table/commit-group.js';
import { releaseSeat } from '../../../../runners/distributed/table/release-rows.js';
import type { TableRow } from '../../../../runners/distributed/table/rows.js';
import { takeSeat, type Seat } from '../../../../runners/distributed/table/seats.js';
import { openFleet } from '../../../support/fleet.js';
import { groupOf, openRunDatabase, rowsOf, type RunDatabase } from '../../../support/run-database.js';
import { intent } from '../../../support/sample-records.js';
import { until } from '../../../support/until.js';

let database: RunDatabase;
beforeAll(async () => {
  database = await openRunDatabase();
});
afterAll(() => database.close());

const worker = '00000000-0000-4000-8000-000000000002';
const booked = { spent: 0, unknown: 0 };
const [task] = rowsOf(1) as [RowTask];
const sent = (item: string) => ({ item, task });

it('refuses a group where the database lacks what the worker knows to be committed, and one of a dead worker as before', async () => {
  const fleet = await openFleet(database, rowsOf(3));
  const seat = { run: fleet.run, worker };
  await takeSeat(database.pool, seat);
  const write = (number: number, seq: number) =>
    commitGroup(database, seat, { ...groupOf(number, {}), known: { groups: number - 1, seq } });
  await write(1, 0);
  await write(2, 0);
  // Written before, and its answer was lost.
  await expect(write(2, 0)).resolves.toMatchObject({ after: 0 });
  await write(3, 0);
  await database.pool.query('update millrace.seats set groups = 2 where run = $1', [fleet.run]);
  await expect(write(4, 0)).rejects.toThrow('was put back to an earlier state');
  // In another database it goes on with what is there, also if that answer is lost.
  await database.pool.query(`update millrace.runs set timeline = 'another' where run = $1`, [fleet.run]);
  const has: number[] = [];
  const behind = groupOf(4, {});
  const draw = (mayBuy: boolean, groups: number) => {
    has.push(groups);
    return behind.draw(mayBuy, groups);
  };
  const again = () => commitGroup(database, seat, { ...behind, draw, known: { groups: 3, seq: 7 } });
  await expect(again()).resolves.toMatchObject({ isMoved: true });
  await expect(again()).resolves.toMatchObject({ isMoved: true, after: 0 });
  expect(has).toEqual([2, 3]);
  await database.pool.query('delete from millrace.seats where run = $1', [fleet.run]);
  await expect(write(4, 1)).rejects.toThrow('was put back to an earlier state');
  await expect(write(4, 0)).rejects.toThrow('this worker was declared dead');
  await fleet.close();
});

it('buys nothing in another database than that of the start, stops the run there, and writes what was sent', async () => {
  const fleet = await openFleet(database, rowsOf(3));
  const seat = { run: fleet.run, worker };
  await takeSeat(database.pool, seat);
  const claim = { worker, start: 1, has: 0, most: { send: 1, poll: 0 }, priceOf: () => 0 };
  const [row] = (await commitGroup(database, seat, groupOf(1, { claim }))).claimed;
  const item = row?.item ?? '';
  await database.pool.query(`update millrace.runs set timeline = 'another' where run = $1`, [fleet.run]);
  const asked: boolean[] = [];
  const end = groupOf(2, {
    records: [{ item, text: JSON.stringify(intent('r1')), isLast: true, booked }],
    ended: [sent(item)],
  });
  const draw = (mayBuy: boolean, has: number) => {
    asked.push(mayBuy);
    return end.draw(mayBuy, has);
  };
  const committed = await commitGroup(database, seat, { ...end, draw });
  expect([asked, committed]).toMatchObject([[false], { isMoved: true, claimed: [], waiting: 2 }]);
  expect(await fleet.state()).toMatchObject({
    seq: 1,
    inFlight: 0,
    stop: { exitCode: 74, reason: expect.stringContaining('a standby took its place') as string },
  });
  // A group that the database had already is the same one in it.
  expect(await commitGroup(database, seat, { ...end, draw })).toMatchObject({ after: 0, isMoved: true });
  expect([asked.at(-1), (await fleet.state()).seq]).toEqual([true, 1]);
  await fleet.close();
});

it('notifies the collector of a failure and of the last end alone: each notification wakes all connections that listen', async () => {
  const fleet = await openFleet(database, rowsOf(2));
  const seat = { run: fleet.run, worker };
  await takeSeat(database.pool, seat);
  const received: string[] = [];
  const client = await database.pool.connect();
  client.on('notification', ({ payload = '' }) => received.push(payload));
  await client.query(`listen ${recordChannel}`);
  const claim = { worker, start: 1, has: 0, most: { send: 2, poll: 0 }, priceOf: () => 0 };
  const { claimed } = await commitGroup(database, seat, groupOf(1, { claim }));
  const [one = '', other = ''] = claimed.map(({ item }) => item);
  const end = (number: number, item: string): NextGroup =>
    groupOf(number, {
      records: [{ item, text: JSON.stringify(intent('r1')), isLast: true, booked }],
      ended: [sent(item)],
    });
  await commitGroup(database, seat, end(2, one));
  await client.query('select 1');
  expect(received).toEqual([]);
  await commitGroup(database, seat, groupOf(3, { hasFailed: true }));
  await until(() => received.length > 0);
  await commitGroup(database, seat, end(4, other));
  await until(() => received.length > 1);
  expect(received).toEqual([String(fleet.run), String(fleet.run)]);
  client.release(true);
  await fleet.close();
});

it('deals rows of a higher priority first, also those that a worker has given back', async () => {
  const tasks = rowsOf(4).map((task, at) => ({ ...task, row: { ...task.row, priority: at === 2 ? 1 : 0 } }));
  const fleet = await openFleet(database, tasks);
  const other = '00000000-0000-4000-8000-000000000003';
  const seats = [worker, other].map((name) => ({ run: fleet.run, worker: name }));
  for (const seat of seats) await takeSeat(database.pool, seat);
  const claim = (name: string, send: number) =>
    groupOf(1, { claim: { worker: name, start: 1, has: 0, most: { send, poll: 0 }, priceOf: () => 0 } });
  const idsOf = ({ claimed }: { claimed: readonly TableRow[] }) => claimed.map(({ task }) => task.row.id);
  expect(idsOf(await commitGroup(database, seats[0] as Seat, claim(worker, 2)))).toEqual(['r3', 'r1']);
  await releaseSeat(database, seats[0] as Seat);
  expect(idsOf(await commitGroup(database, seats[1] as Seat, claim(other, 4)))).toEqual([
    'r3',
    'r1',
    'r2',
    'r4',
  ]);
  await fleet.close();
});

it('fails as a whole with a statement that nobody waited for', async () => {
  const fleet = await openFleet(database, rowsOf(1));
  const seat = { run: fleet.run, worker };
  await takeSeat(database.pool, seat);
  const claim = { worker, start: 1, has: 0, most: { send: 1, poll: 0 }, priceOf: () => 0 };
  const first = await commitGroup(database, seat, groupOf(1, { claim }));
  const item = first.claimed[0]?.item ?? '';
  // More than is in flight leaves: the ledger, which is saved with the commit, cannot be below zero.
  const ended = [sent(item), sent('00000000-0000-4000-8000-00000000000a')];
  const records = [{ item, text: '{}', isLast: true, booked }];
  await expect(commitGroup(database, seat, groupOf(2, { ended, records }))).rejects.toThrow(
    /ledgers_in_flight_check/,
  );
  expect(await fleet.records()).toEqual([]);
  expect(await fleet.state()).toMatchObject({ inFlight: 1, seq: 0 });
  const again = await commitGroup(database, seat, groupOf(2, { ended: ended.slice(0, 1), records }));
  expect(again.after).toBe(0);
  expect(await fleet.state()).toMatchObject({ inFlight: 0, seq: 1 });
  await fleet.close();
});

it('gives the slots of rows that end to rows that wait, in the same transaction', async () => {
  const fleet = await openFleet(database, rowsOf(5), { terms: { concurrency: 2 } });
  const seat = { run: fleet.run, worker };
  await takeSeat(database.pool, seat);
  const take = async (number: number, ends: readonly TableRow[]) => {
    const claim = { worker, start: 1, has: 0, most: { send: 9, poll: 0 }, priceOf: () => 0 };
    const records = ends.map(({ item }) => ({ item, text: '{}', isLast: true, booked }));
    const ended = ends.map(({ item }) => sent(item));
    return (await commitGroup(database, seat, groupOf(number, { records, ended, claim }))).claimed;
  };
  const first = await take(1, []);
  const second = await take(2, first.slice(0, 1));
  const third = await take(3, [...first.slice(1), ...second]);
  expect([first, second, third].map((rows) => rows.map(({ task }) => task.row.id))).toEqual([
    ['r1', 'r2'],
    ['r3'],
    ['r4', 'r5'],
  ]);
  await fleet.close();
});

it('wakes other workers for a slot only where one of them has less than its share: the others come back by themselves', async () => {
  const fleet = await openFleet(database, rowsOf(20), { terms: { concurrency: 4 } });
  const other = '00000000-0000-4000-8000-000000000003';
  const seatOf = (name: string) => ({ run: fleet.run, worker: name });
  for (const name of [worker, other]) await takeSeat(database.pool, seatOf(name));
  const received: string[] = [];
  const client = await database.pool.connect();
  client.on('notification', ({ payload = '' }) => received.push(payload));
  await client.query(`listen ${workChannel}`);
  const held = new Map<string, TableRow[]>([worker, other].map((name) => [name, []]));
  const numbers = new Map<string, number>();
  /** Ends the oldest rows of a worker, which takes as many as it may have. Returns how many it has then, and whether others were woken. */
  const step = async (name: string, ends: number, takes = true) => {
    received.length = 0;
    const rows = held.get(name) ?? [];
    const ended = rows.splice(0, ends).map(({ item }) => sent(item));
    const most = { send: 9, poll: 0 };
    const claim = takes ? { worker: name, start: 1, has: rows.length, most, priceOf: () => 0 } : undefined;
    numbers.set(name, (numbers.get(name) ?? 0) + 1);
    const group = groupOf(numbers.get(name) ?? 0, { ended, claim });
    rows.push(...(await commitGroup(database, seatOf(name), group)).claimed);
    await client.query('select 1');
    return [rows.length, received.includes(`${fleet.run} rows`)];
  };
  expect(await step(worker, 0)).toEqual([4, false]);
  expect(await step(other, 0)).toEqual([0, false]);
  // It has more than its share: what it leaves is for the other one.
  expect(await step(worker, 1)).toEqual([3, true]);
  expect(await step(worker, 1)).toEqual([2, true]);
  expect(await step(other, 0)).toEqual([2, false]);
  // It leaves a slot that it takes itself with its next group.
  expect(await step(worker, 1, false)).toEqual([1, false]);
  expect(await step(other, 1)).toEqual([2, false]);
  expect(await step(worker, 0)).toEqual([2, false]);
  client.release(true);
  await fleet.close();
});

describe('two workers of which one comes back sooner', () => {
  const other = '00000000-0000-4000-8000-000000000003';
  /** Lets workers take as many rows as they may have, in this order. Returns how many each one gets. */
  const take = async (rows: number, concurrency: number, order: readonly string[]) => {
    const fleet = await openFleet(database, rowsOf(rows), { terms: { concurrency } });
    const has = new Map<string, number>();
    const groups = new Map<string, number>();
    const got: number[] = [];
    for (const name of [worker, other]) await takeSeat(database.pool, { run: fleet.run, worker: name });
    for (const name of order) {
      const had = has.get(name) ?? 0;
      const most = { send: concurrency - had, poll: 0 };
      const claim = { worker: name, start: 1, has: had, most, priceOf: () => 0 };
      const number = (groups.get(name) ?? 0) + 1;
      groups.set(name, number);
      const { claimed } = await commitGroup(
        database,
        { run: fleet.run, worker: name },
        groupOf(number, { claim }),
      );
      has.set(name, had + claimed.length);
      got.push(claimed.length);
    }
    await fleet.close();
    return got;
  };

  it('get an equal share of rows that are fewer than the slots: the first one took all', async () => {
    expect(await take(1_000, 50_000, [worker, worker, other, worker])).toEqual([500, 100, 400, 0]);
  });

  it('get an equal share of the slots although one transaction gives only a thousand rows', async () => {
    expect(await take(2_600, 2_400, [worker, other, worker, worker, other])).toEqual([
      ...[1_000, 1_000],
      ...[200, 0, 200],
    ]);
  });

  it('leave no slot empty where the other one takes no rows', async () => {
    expect(await take(250, 250, [worker, worker, worker])).toEqual([125, 100, 25]);
  });
});
