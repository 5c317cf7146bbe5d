import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import type { Committed, NextGroup } from '../../../../runners/distributed/table/commit-group.js';
import { TableJournal } from '../../../../runners/distributed/worker/table-journal.js';
import { schedulerOf, VirtualClock } from '../../../simulate/virtual-clock.js';
import { rowsOf } from '../../../support/run-database.js';
import { intent, failed } from '../../../support/sample-records.js';

interface Table {
  readonly isAlone?: boolean;
  /** Others have it for so long, each time. */
  readonly lockMs?: number;
  /** It refuses a record of this row. */
  readonly refused?: string;
  /** More rows wait in it, and all slots are others'. */
  readonly hasMore?: boolean;
}

/** A worker with these rows, over a table: when it was written to, and how many records at a time. */
async function workerWith(ids: readonly string[], table: Table = {}) {
  const { isAlone = false, lockMs = 0, refused, hasMore = false } = table;
  const clock = new VirtualClock();
  const begin = clock.now;
  const scheduler = schedulerOf(
    clock,
    () => false,
    () => 0,
  );
  const written: { afterMs: number; records: number }[] = [];
  let groups = 0;
  const claims: number[] = [];
  const claimed = rowsOf(ids.length).map((task, at) => ({
    ...{ item: `item ${ids[at]}`, reserved: 0, since: 0 },
    task: { ...task, row: { ...task.row, id: ids[at] ?? '' } },
  }));
  const commit = async ({ draw }: NextGroup): Promise<Committed> => {
    if (lockMs > 0) await new Promise<void>((resolve) => clock.in(lockMs, resolve));
    const { records, claim } = draw();
    groups += 1;
    if (records.some(({ item }) => item === `item ${refused}`)) throw new Error('refused');
    if (records.length > 0) written.push({ afterMs: clock.now - begin, records: records.length });
    if (claim !== undefined) claims.push(groups);
    const fresh = claims.length === 1 && claim !== undefined ? claimed : [];
    return { after: 0, owners: new Map(), claimed: fresh, left: 0, waiting: hasMore ? 9 : 0, isAlone };
  };
  let isClaimed = false;
  const journal = new TableJournal({
    ...{ commit, reserve: () => Promise.resolve(true), scheduler, savesPictures: true },
    claim: (has) =>
      isClaimed && !hasMore
        ? undefined
        : { worker: 'w', start: 1, has, most: { send: ids.length, poll: 0 }, priceOf: () => 0 },
    onClaimed: () => (isClaimed = true),
    ...{ onFailed: () => undefined, onLate: () => undefined },
  });
  journal.wake();
  await clock.until(new Promise<void>((resolve) => clock.in(10 + lockMs, resolve)), 1_000);
  const write = (record: JournalRecord) => firstValueFrom(journal.append(record));
  const when = (ms: number, record: JournalRecord) =>
    new Promise<number>((resolve, reject) =>
      clock.in(ms - (clock.now - begin), () => void write(record).then(resolve, reject)),
    );
  const until = (all: readonly Promise<unknown>[]) => clock.until(Promise.all(all), 2_000);
  return {
    written,
    claims,
    when,
    at: (ms: number, id: string) => when(ms, intent(id)),
    until,
    groups: () => groups,
  };
}

it('a record of one row among many waits 25 ms for those of others', async () => {
  const { written, at, until } = await workerWith(['a', 'b', 'c', 'd', 'e', 'f']);
  await until([at(100, 'a'), at(120, 'b'), at(500, 'c')]);
  expect(written).toEqual([
    { afterMs: 127, records: 2 },
    { afterMs: 527, records: 1 },
  ]);
});

it('waits 12 ms where no other worker is at the run', async () => {
  const { written, at, until } = await workerWith(['a', 'b', 'c', 'd', 'e', 'f'], { isAlone: true });
  await until([at(100, 'a'), at(110, 'b'), at(120, 'c')]);
  expect(written).toEqual([
    { afterMs: 114, records: 2 },
    { afterMs: 134, records: 1 },
  ]);
});

it('nothing is waited for once half of the rows have a record', async () => {
  const { written, at, until } = await workerWith(['a', 'b', 'c', 'd']);
  await until([at(100, 'a'), at(110, 'b')]);
  expect(written).toEqual([{ afterMs: 110, records: 2 }]);
});

it('the record of a worker with one row is written after 2 ms', async () => {
  const { written, at, until } = await workerWith(['a']);
  await until([at(100, 'a')]);
  expect(written).toEqual([{ afterMs: 102, records: 1 }]);
});

it('what comes while others have the table goes with the group that waits for it', async () => {
  const { written, at, until } = await workerWith(['a', 'b', 'c', 'd', 'e', 'f'], { lockMs: 50 });
  await until([at(100, 'a'), at(170, 'b')]);
  expect(written).toEqual([{ afterMs: 202, records: 2 }]);
});

it('waits for others as long as the last group took, where that is longer', async () => {
  const { written, at, until } = await workerWith(['a', 'b', 'c', 'd', 'e', 'f'], { lockMs: 80 });
  await until([at(100, 'a')]);
  // 2 ms, then 82 as the claim took, then the table's 80.
  expect(written).toEqual([{ afterMs: 262, records: 1 }]);
});

it('takes rows with the second group where few slots are free, and with the first where half are', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const few = await workerWith(ids, { hasMore: true });
  await few.until([few.when(100, failed('a', 'unknown')), few.at(100, 'b'), few.at(200, 'c')]);
  expect(few.claims).toEqual([1, 2, 4]);
  const half = await workerWith(ids, { hasMore: true });
  await half.until(['a', 'b', 'c'].map((id) => half.when(100, failed(id, 'unknown'))));
  expect(half.claims).toEqual([1, 2, 3]);
});

it('finds a record that the table refuses among those of many rows in few groups, and writes all others', async () => {
  const ids = Array.from({ length: 64 }, (_, at) => `r${at}`);
  const { written, at, until, groups } = await workerWith(ids, { refused: 'r40' });
  const kept = ids.map((id) =>
    at(100, id).then(
      () => id,
      () => 'refused',
    ),
  );
  await until(kept);
  expect(await Promise.all(kept)).toEqual(ids.map((id) => (id === 'r40' ? 'refused' : id)));
  expect(written.reduce((sum, { records }) => sum + records, 0)).toBe(63);
  // The claim, the group, and two for each time that it is halved.
  expect(groups()).toBe(2 + 2 * 6);
});
