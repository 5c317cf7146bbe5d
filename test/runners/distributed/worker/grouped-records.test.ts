import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import type { Committed, Group } from '../../../../runners/distributed/table/commit-group.js';
import { TableJournal } from '../../../../runners/distributed/worker/table-journal.js';
import { schedulerOf, VirtualClock } from '../../../simulate/virtual-clock.js';
import { rowsOf } from '../../../support/run-database.js';
import { intent } from '../../../support/sample-records.js';

/** A worker with these rows, over a table that answers at once: when it was written to, and how many records at a time. */
async function workerWith(ids: readonly string[], isAlone = false) {
  const clock = new VirtualClock();
  const begin = clock.now;
  const scheduler = schedulerOf(
    clock,
    () => false,
    () => 0,
  );
  const written: { afterMs: number; records: number }[] = [];
  const claimed = rowsOf(ids.length).map((task, at) => ({
    ...{ item: `item ${ids[at]}`, reserved: 0, since: 0 },
    task: { ...task, row: { ...task.row, id: ids[at] ?? '' } },
  }));
  const commit = ({ records }: Group): Promise<Committed> => {
    if (records.length > 0) written.push({ afterMs: clock.now - begin, records: records.length });
    return Promise.resolve({ after: 0, owners: new Map(), claimed, left: 0, waiting: 0, isAlone });
  };
  let isClaimed = false;
  const journal = new TableJournal({
    ...{ commit, reserve: () => Promise.resolve(true), scheduler, savesPictures: true },
    claim: (has) =>
      isClaimed
        ? undefined
        : { worker: 'w', start: 1, has, most: { send: ids.length, poll: 0 }, priceOf: () => 0 },
    onClaimed: () => (isClaimed = true),
    ...{ onFailed: () => undefined, onLate: () => undefined },
  });
  journal.wake();
  await clock.until(new Promise<void>((resolve) => clock.in(10, resolve)), 1_000);
  const append = (id: string) => firstValueFrom(journal.append(intent(id)));
  const at = (ms: number, id: string) =>
    new Promise<number>((resolve) => clock.in(ms - (clock.now - begin), () => void append(id).then(resolve)));
  return { written, at, until: (all: readonly Promise<number>[]) => clock.until(Promise.all(all), 1_000) };
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
  const { written, at, until } = await workerWith(['a', 'b', 'c', 'd', 'e', 'f'], true);
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
