import { asyncScheduler } from 'rxjs';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { RowTask } from '../../../../runners/batch/row/row-after.js';
import { commitGroup } from '../../../../runners/distributed/table/commit-group.js';
import { releaseSeat } from '../../../../runners/distributed/table/release-rows.js';
import { readRecordsAfter } from '../../../../runners/distributed/table/records.js';
import { takeSeat } from '../../../../runners/distributed/table/seats.js';
import { TableJournal } from '../../../../runners/distributed/worker/table-journal.js';
import { openFleet } from '../../../support/fleet.js';
import { conformsToJournal, endsOf } from '../../../support/journal-conformance.js';
import { openRunDatabase, rowsOf, type RunDatabase } from '../../../support/run-database.js';

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

conformsToJournal('a table', async () => {
  const fleet = await openFleet(database, ['a', 'b', 'c'].map(taskOf));
  const seat = { run: fleet.run, worker: randomUUID() };
  await takeSeat(database.pool, seat);
  let claimed = 0;
  let taken = (): void => undefined;
  const isTaken = new Promise<void>((resolve) => (taken = resolve));
  const journal = new TableJournal({
    commit: (group) => commitGroup(database, seat, group),
    ...{ scheduler: asyncScheduler, savesPictures: true },
    claim: () =>
      claimed === 3
        ? undefined
        : {
            worker: seat.worker,
            start: 1,
            has: claimed,
            most: { send: 3 - claimed, poll: 0 },
            priceOf: () => 87_500,
          },
    onClaimed: (rows) => {
      claimed += rows.length;
      taken();
    },
    ...{ onFailed: () => undefined, onLate: () => undefined },
  });
  journal.wake();
  await isTaken;
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
