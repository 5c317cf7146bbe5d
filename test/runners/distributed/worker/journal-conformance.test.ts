import { randomUUID } from 'node:crypto';
import type { Pool, QueryConfig } from 'pg';
import { asyncScheduler, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RowTask } from '../../../../runners/batch/row/row-after.js';
import { commitGroup, reserveMore } from '../../../../runners/distributed/table/commit-group.js';
import { releaseSeat } from '../../../../runners/distributed/table/release-rows.js';
import { readRecordsAfter } from '../../../../runners/distributed/table/records.js';
import type { RunDatabase as Database } from '../../../../runners/distributed/table/run-ledger.js';
import { takeSeat, type Seat } from '../../../../runners/distributed/table/seats.js';
import { TableJournal } from '../../../../runners/distributed/worker/table-journal.js';
import { openFleet } from '../../../support/fleet.js';
import { conformsToJournal, endsOf } from '../../../support/journal-conformance.js';
import { openRunDatabase, rowsOf, type RunDatabase } from '../../../support/run-database.js';
import { accepted, intent } from '../../../support/sample-records.js';

let database: RunDatabase;
beforeAll(async () => {
  database = await openRunDatabase();
});
afterAll(() => database.close());

function taskOf(id: string): RowTask {
  const [task] = rowsOf(1);
  if (task === undefined) throw new Error('no row');
  return { ...task, row: { ...task.row, id } };
}

/** The journal of a worker that has taken all rows which wait. */
async function journalOf(run: number, on: Database): Promise<{ journal: TableJournal; seat: Seat }> {
  const seat = { run, worker: randomUUID() };
  await takeSeat(database.pool, seat);
  let claimed = 0;
  let taken = (): void => undefined;
  const isTaken = new Promise<void>((resolve) => (taken = resolve));
  const most = { send: 3, poll: 3 };
  const journal = new TableJournal({
    commit: (group) => commitGroup(on, seat, group),
    reserve: (row) => reserveMore(on, seat, row),
    scheduler: asyncScheduler,
    savesPictures: true,
    claim: (has) =>
      claimed > 0 ? undefined : { worker: seat.worker, start: 1, has, most, priceOf: () => 87_500 },
    onClaimed: (rows) => {
      claimed += rows.length;
      taken();
    },
    onFailed: () => undefined,
    onLate: () => undefined,
    isUnlisted: () => false,
  });
  journal.wake();
  await isTaken;
  return { journal, seat };
}

/** A database whose connection breaks before a statement, counted from when it is armed; `commit` also breaks once it is done. */
function breaking(pool: Pool) {
  const state = { left: Infinity, hasBroken: false };
  const broken = () => new Error('Connection terminated unexpectedly');
  const connect = async () => {
    const client = await pool.connect();
    const query = async (what: string | QueryConfig, values?: unknown[]) => {
      if (state.hasBroken || state.left-- <= 0) {
        state.hasBroken = true;
        throw broken();
      }
      const answer = await client.query(what, values);
      if (what === 'commit' && state.left-- <= 0) {
        state.hasBroken = true;
        throw broken();
      }
      return answer;
    };
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'query') return query;
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  };
  const broke = new Proxy(pool, {
    get: (target, name) => (name === 'connect' ? connect : (Reflect.get(target, name, target) as unknown)),
  });
  return { pool: broke, state };
}

conformsToJournal('a table', async () => {
  const fleet = await openFleet(database, ['a', 'b', 'c'].map(taskOf));
  const { pool, state } = breaking(database.pool);
  const { journal, seat } = await journalOf(fleet.run, { pool, queue: database.queue });
  const stored = async (after = 0) =>
    (await readRecordsAfter(database.pool, fleet.run, after, 1_000)).map(({ record }) => record);
  return {
    journal: {
      append: (record) => journal.append(record),
      // As the collector reads them.
      records: async function* (after) {
        yield* await stored(after);
      },
      close: () => journal.close(),
    },
    before: 0,
    breakMedium: async () => {
      await database.pool.query('delete from millrace.seats where run = $1', [fleet.run]);
    },
    dieAt: (step) => Promise.resolve(void (state.left = step)),
    hasDied: () => state.hasBroken,
    nextProcess: async () => {
      await releaseSeat(database, seat);
      return (await journalOf(fleet.run, database)).journal;
    },
    afterDeath: stored,
    goesOn: async () => {
      const before = await stored();
      await releaseSeat(database, seat);
      const records = endsOf((await stored()).slice(before.length));
      const { rows } = await database.pool.query<{ task: string }>(
        `select task from millrace.rows where run = $1 and task::json -> 'row' ->> 'id' = 'a'`,
        [fleet.run],
      );
      if (records.length > 0) return { what: 'hold', records };
      const task = rows[0] && (JSON.parse(rows[0].task) as RowTask);
      if (task?.what === 'poll') return { what: 'poll', jobId: task.jobId, attempts: task.attempts };
      if (task !== undefined) return { what: 'send', attempts: task.attempts };
      return before.at(-1)?.k === 'reply' ? { what: 'save the picture' } : { what: 'nothing' };
    },
    close: () => fleet.close(),
  };
});

it('leaves out the one row whose claim a standby lacks when more is reserved for it, and writes the others', async () => {
  const fleet = await openFleet(database, ['a', 'b'].map(taskOf));
  const { journal } = await journalOf(fleet.run, database);
  await firstValueFrom(journal.append(intent('a')));
  await database.pool.query(
    `update millrace.rows set worker = null where run = $1 and task::json -> 'row' ->> 'id' = 'b'`,
    [fleet.run],
  );
  await database.pool.query(
    'update millrace.ledgers set waiting = waiting + 1, in_flight = in_flight - 1 where run = $1',
    [fleet.run],
  );
  await database.pool.query(`update millrace.runs set timeline = 'another' where run = $1`, [fleet.run]);
  await expect(journal.reserve('b', 200_000)).rejects.toThrow('a standby took its place');
  await firstValueFrom(journal.append(accepted('a')));
  expect((await fleet.records()).map(({ id, k }) => `${id} ${k}`)).toEqual(['a intent', 'a accepted']);
  await journal.close();
  await fleet.close();
});
