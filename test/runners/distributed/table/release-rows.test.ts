import type { Pool, PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commitGroup } from '../../../../runners/distributed/table/commit-group.js';
import { readRecordsAfter } from '../../../../runners/distributed/table/records.js';
import { releaseSeat } from '../../../../runners/distributed/table/release-rows.js';
import type { TableRow } from '../../../../runners/distributed/table/rows.js';
import { readState } from '../../../../runners/distributed/table/run-state.js';
import { takeSeat, type Seat } from '../../../../runners/distributed/table/seats.js';
import type { RunTerms } from '../../../../runners/distributed/table/run-terms.js';
import { openFleet } from '../../../support/fleet.js';
import { groupOf, openRunDatabase, rowsOf, type RunDatabase } from '../../../support/run-database.js';
import { accepted, intent } from '../../../support/sample-records.js';

let database: RunDatabase;
beforeAll(async () => {
  database = await openRunDatabase();
});
afterAll(() => database.close());

/** A seat with so many rows; the job ids of the first `named` have come, and nothing of the others. */
async function seatWith(count: number, named: number, terms: Partial<RunTerms> = {}): Promise<Seat> {
  const fleet = await openFleet(database, rowsOf(count), { terms: { concurrency: count, ...terms } });
  const seat = { run: fleet.run, worker: '00000000-0000-4000-8000-000000000004' };
  await takeSeat(database.pool, seat);
  const claimed: TableRow[] = [];
  let groups = 0;
  // One transaction gives a thousand at most.
  while (claimed.length < count && groups < count) {
    const most = { send: count - claimed.length, poll: 0 };
    const claim = { worker: seat.worker, start: 1, has: claimed.length, most, priceOf: () => 0 };
    claimed.push(...(await commitGroup(database, seat, groupOf(++groups, { claim }))).claimed);
  }
  expect(claimed).toHaveLength(count);
  const records = claimed.flatMap(({ item, task }, place) => {
    const { id } = task.row;
    const written = place < named ? [intent(id), accepted(id)] : [intent(id)];
    const booked = { spent: 0, unknown: 0 };
    return written.map((record) => ({ item, text: JSON.stringify(record), isLast: false, booked }));
  });
  await commitGroup(database, seat, groupOf(groups + 1, { records }));
  await fleet.close();
  return seat;
}

it('gives thousands of rows back in one transaction: the database ends one that is silent for five seconds', async () => {
  const seat = await seatWith(3_000, 3_000);
  await releaseSeat(database, seat);
  expect(await readState(database, seat.run)).toMatchObject({ inFlight: 0, open: 3_000 });
}, 60_000);

it('asks the database no more often for many rows than for few', async () => {
  const seats = [await seatWith(2, 1), await seatWith(40, 20)];
  const counts = [];
  for (const seat of seats) {
    let statements = 0;
    const pool = counting(database.pool, () => (statements += 1));
    await releaseSeat({ ...database, pool }, seat);
    counts.push(statements);
  }
  expect(counts[1]).toBe(counts[0]);
  expect(await readState(database, seats[1]?.run ?? 0)).toMatchObject({ inFlight: 0, open: 20 });
});

it.each([
  [
    'sends a request without an answer again with --on-unknown retry',
    'timeline = null',
    ['intent', 'outcome', 'reopen'],
  ],
  [
    'leaves it in doubt where a standby took the place of the database',
    `timeline = 'another'`,
    ['intent', 'outcome'],
  ],
  [
    'leaves it in doubt while the run stops',
    `stop = '{"exitCode":3,"reason":"The cap."}'`,
    ['intent', 'outcome'],
  ],
])('%s', async (_, change, records) => {
  const seat = await seatWith(1, 0, { onUnknown: 'retry' });
  await database.pool.query(`update millrace.runs set ${change} where run = $1`, [seat.run]);
  await releaseSeat(database, seat);
  const written = await readRecordsAfter(database.pool, seat.run, 0, 9);
  expect(written.map(({ record }) => record.k)).toEqual(records);
  const state = await readState(database, seat.run);
  expect([state.open, state.unknown, state.spent]).toEqual([records.length - 2, 87_500, 0]);
});

it('wakes nobody where another process has released the rows of a dead worker meanwhile', async () => {
  const seat = await seatWith(2, 1);
  const counts = [];
  for (let times = 0; times < 2; times++) {
    let notifications = 0;
    const pool = counting(database.pool, (text) => (notifications += Number(text.includes('pg_notify'))));
    await releaseSeat({ ...database, pool }, seat);
    counts.push(notifications);
  }
  expect(counts).toEqual([2, 0]);
});

function counting(pool: Pool, count: (text: string) => void): Pool {
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    return new Proxy(client, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== 'function') return value;
        if (name !== 'query') return value.bind(target) as unknown;
        return (query: string | { readonly text: string }, ...more: unknown[]) => {
          count(typeof query === 'string' ? query : query.text);
          return Reflect.apply(value, target, [query, ...more]) as unknown;
        };
      },
    });
  };
  return new Proxy(pool, {
    get: (target, name) => (name === 'connect' ? connect : (Reflect.get(target, name, target) as unknown)),
  });
}
