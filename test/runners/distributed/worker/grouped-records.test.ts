import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import type { RowRecord } from '../../../../runners/batch/row/record-head.js';
import type { Committed, NextGroup } from '../../../../runners/distributed/table/commit-group.js';
import { DatabasePutBack } from '../../../../runners/distributed/table/seats.js';
import { TableJournal } from '../../../../runners/distributed/worker/table-journal.js';
import { schedulerOf, VirtualClock } from '../../../simulate/virtual-clock.js';
import { rowsOf } from '../../../support/run-database.js';
import { accepted, completed, failed, intent, reply } from '../../../support/sample-records.js';

interface Table {
  readonly isAlone?: boolean;
  /** Others have it for so long, each time. */
  readonly lockMs?: number;
  /** It refuses a record of this row. */
  readonly refused?: string;
  /** More rows wait in it, and all slots are others'. */
  readonly hasMore?: boolean;
  /** Who has the jobs that are claimed, at each group that claims some: a group whose commit fails is written again. */
  readonly owners?: readonly (string | undefined)[];
  /** From this group on it is not the database that the start has begun in; a group that was `written` before was so in either. */
  readonly moved?: {
    readonly from: number;
    readonly written?: boolean;
    /** Its first one lacks further groups. */ readonly has?: number;
  };
}

/** A worker with these rows, over a table: when it was written to, and how many records at a time. */
async function workerWith(ids: readonly string[], table: Table = {}) {
  const { isAlone = false, lockMs = 0, refused, hasMore = false, owners = [], moved } = table;
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
  const texts: string[] = [];
  const claimed = rowsOf(ids.length).map((task, at) => ({
    item: `item ${ids[at]}`,
    reserved: 0,
    since: 0,
    task: { ...task, row: { ...task.row, id: ids[at] ?? '' } },
  }));
  const late: string[] = [];
  const commit = async ({ draw, answer }: NextGroup): Promise<Committed> => {
    if (lockMs > 0) await new Promise<void>((resolve) => clock.in(lockMs, resolve));
    groups += 1;
    const isMoved = moved !== undefined && groups >= moved.from;
    // Drawn before the connection broke, and again in the other database.
    draw(true, groups - 1);
    const {
      records: drawn,
      claim,
      jobs,
    } = draw(
      !isMoved || (groups === moved.from && moved.written === true),
      groups === moved?.from ? (moved.has ?? groups - 1) : groups - 1,
    );
    let records = drawn;
    // All but the last time the connection breaks before the commit.
    if (jobs.length > 0)
      for (const owner of owners.length === 0 ? [undefined] : owners)
        records = [
          ...drawn,
          ...(await answer(new Map(jobs.flatMap((job) => (owner ? [[job, owner]] : []))))),
        ];
    if (records.some(({ item }) => item === `item ${refused}`)) throw new Error('refused');
    if (records.length > 0) written.push({ afterMs: clock.now - begin, records: records.length });
    texts.push(...records.map(({ text }) => text));
    if (claim !== undefined) claims.push(groups);
    const fresh = claims.length === 1 && claim !== undefined ? claimed : [];
    return { after: 0, claimed: fresh, left: 0, waiting: hasMore ? 9 : 0, isAlone, isMoved };
  };
  let isClaimed = false;
  const journal = new TableJournal({
    commit,
    reserve: () => Promise.resolve(true),
    isUnlisted: () => false,
    scheduler,
    savesPictures: true,
    claim: (has) =>
      isClaimed && !hasMore
        ? undefined
        : { worker: 'w', start: 1, has, most: { send: ids.length, poll: 0 }, priceOf: () => 0 },
    onClaimed: () => (isClaimed = true),
    onFailed: () => undefined,
    onLate: ({ jobId }) => late.push(jobId),
  });
  journal.wake();
  await clock.until(new Promise<void>((resolve) => clock.in(10 + lockMs, resolve)), 1_000);
  const write = (record: JournalRecord) => firstValueFrom(journal.append(record));
  const when = (ms: number, record: JournalRecord) =>
    new Promise<number>((resolve, reject) =>
      clock.in(ms - (clock.now - begin), () => void write(record).then(resolve, reject)),
    );
  /** Claims the job of a row's POST, and accepts it where it is free. */
  const accept = async (id: string): Promise<string | undefined> => {
    const owner = await journal.claimJob({ key: id, endpoint: 'echo', jobId: `j-${id}` });
    if (owner === undefined) await write({ k: 'accepted', at: 0, id, jobId: `j-${id}` });
    return owner;
  };
  const until = (all: readonly Promise<unknown>[]) => clock.until(Promise.all(all), 2_000);
  return {
    written,
    kinds: () => texts.map((text) => JSON.parse(text) as RowRecord).map(({ id, k }) => `${id} ${k}`),
    claims,
    when,
    at: (ms: number, id: string) => when(ms, intent(id)),
    until,
    groups: () => groups,
    accept,
    late,
    write,
    close: () => journal.close(),
  };
}

it('long records that come together go in several groups, with all records of a row in one', async () => {
  const { written, at, when, until } = await workerWith(['a', 'b', 'c']);
  const long = (id: string) => when(100, { ...intent(id), columns: { text: 'x'.repeat(9_000_000) } });
  await until([long('a'), long('b'), at(100, 'c'), when(100, failed('a', 'unknown'))]);
  expect(written.map(({ records }) => records)).toEqual([2, 2]);
});

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

it('waits up to 40 ms for all rows, where the last group had something of nearly all of them', async () => {
  const ids = Array.from({ length: 8 }, (_, at) => `r${at}`);
  const { written, at, until } = await workerWith(ids);
  await until(ids.slice(0, 6).map((id) => at(100, id)));
  await until(ids.map((id, place) => at(200 + 4 * place, id)));
  await until(ids.slice(0, 5).map((id) => at(300, id)));
  await until(ids.map((id, place) => at(400 + 2 * place, id)));
  expect(written).toEqual([
    { afterMs: 102, records: 6 },
    { afterMs: 228, records: 8 },
    // Five of eight are not nearly all: half of them are enough from then on.
    { afterMs: 342, records: 5 },
    { afterMs: 406, records: 4 },
    { afterMs: 414, records: 4 },
  ]);
});

it('where no other worker is at the run, half of the rows are enough also then', async () => {
  const { written, at, until } = await workerWith(['a', 'b', 'c', 'd'], { isAlone: true });
  await until(['a', 'b', 'c', 'd'].map((id) => at(100, id)));
  await until([at(200, 'a'), at(204, 'b')]);
  expect(written).toEqual([
    { afterMs: 102, records: 4 },
    { afterMs: 204, records: 2 },
  ]);
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

it('writes the id of a job with the group that claims it', async () => {
  const { written, accept, until, groups } = await workerWith(['a', 'b']);
  await until([accept('a'), accept('b')]);
  expect(written.map(({ records }) => records)).toEqual([2]);
  expect(groups()).toBe(2);
});

it('writes no id of a job that another row has', async () => {
  const { written, accept, until } = await workerWith(['a', 'b'], { owners: ['c'] });
  const accepting = accept('a');
  await until([accepting]);
  expect(await accepting).toBe('c');
  expect(written).toEqual([]);
});

it('writes the same ids with a group that is written again', async () => {
  const { written, accept, until, late } = await workerWith(['a', 'b'], { owners: [undefined, undefined] });
  await until([accept('a'), accept('b')]);
  expect(written.map(({ records }) => records)).toEqual([2]);
  expect(late).toEqual([]);
});

it('fails where a job was free, and another row has it when the group is written again', async () => {
  const { written, accept, until, late } = await workerWith(['a', 'b'], { owners: [undefined, 'c'] });
  const accepting = accept('a').catch((error: unknown) => error);
  await until([accepting]);
  expect(await accepting).toMatchObject({ message: expect.stringContaining('another row has it now') });
  expect(written).toEqual([]);
  expect(new Set(late)).toEqual(new Set(['j-a']));
});

it('writes a record that comes while the journal closes, or refuses it and keeps its job: however few steps lie between', async () => {
  for (let steps = 0; steps < 30; steps++) {
    const { written, write, close, at, until, late } = await workerWith(['a', 'b', 'c']);
    const ends: string[] = [];
    const coming = at(100, 'a').then(async () => {
      for (let step = 0; step < steps; step++) await Promise.resolve();
      void write({ k: 'accepted', at: 0, id: 'b', jobId: 'j-b' }).then(
        () => ends.push('written'),
        () => ends.push('refused'),
      );
    });
    // Once the group of row `a` is on its way.
    const closing = at(100, 'c').then(close);
    await until([coming, closing]);
    await until([at(500, 'c').catch(() => undefined)]);
    expect(ends, `${steps} steps`).toEqual([written.length > 1 ? 'written' : 'refused']);
    expect(late, `${steps} steps`).toEqual(written.length > 1 ? [] : ['j-b']);
  }
});

it.each([
  ['in another database than the start has begun in', false, []],
  [
    'also where it had the intents already: they are refused by their next record',
    true,
    ['b intent', 'b refused'],
  ],
])('writes what was sent, and neither intents nor claims, %s', async (_, isWritten, more) => {
  const moved = { from: 3, written: isWritten };
  const { at, when, until, kinds, claims, late } = await workerWith(['a', 'b', 'c'], { moved });
  const sent = at(100, 'a');
  await until([sent]);
  const refused = at(200, 'b').catch((error: unknown) => error);
  // A job that the manifest names is polled: nothing is sent for its intent.
  const named = [when(200, { ...intent('c'), jobId: 'j' }), when(200, accepted('c'))];
  await until([refused, when(200, reply('a')), when(200, completed('a')), ...named]);
  await until([when(400, failed('c', 'expired'))]);
  await expect(refused).resolves.toBeInstanceOf(DatabasePutBack);
  const ends = ['a reply', 'a outcome', 'c intent', 'c accepted', 'c outcome'];
  expect(kinds().toSorted()).toEqual(['a intent', ...ends, ...more].toSorted());
  expect([claims, late]).toEqual([[1], []]);
});

it('writes the answers of rows whose intents a standby has, where it lacks the last group of their worker, and keeps the job ids of the others', async () => {
  const moved = { from: 4, has: 2 };
  const { at, when, until, kinds, late } = await workerWith(['a', 'b', 'c', 'd', 'e'], { moved });
  await until([at(100, 'a'), at(200, 'b')]);
  const lost = when(300, reply('b'));
  await until([when(300, accepted('a')), expect(lost).rejects.toBeInstanceOf(DatabasePutBack)]);
  await until([when(400, reply('a')), expect(when(400, reply('b'))).rejects.toBeInstanceOf(DatabasePutBack)]);
  expect(kinds()).toEqual(['a intent', 'b intent', 'a accepted', 'a reply']);
  expect(late).toEqual(['job-b', 'job-b']);
});
