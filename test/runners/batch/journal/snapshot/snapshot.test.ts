import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../../../../runners/batch/journal/journal.js';
import { openJournal } from '../../../../../runners/batch/journal/open-journal.js';
import {
  readJournal,
  type JournalReader,
  peekJournal,
} from '../../../../../runners/batch/journal/recovered-journal.js';
import type { JournalRecord } from '../../../../../runners/batch/journal/record.js';
import { Recovery } from '../../../../../runners/batch/journal/recovery.js';
import { statuses } from '../../../../../runners/batch/row/row-status.js';
import type { Disk } from '../../../../../runners/batch/disk/disk.js';
import { refreshSnapshot } from '../../../../../runners/batch/journal/recovered-journal.js';
import { madeBy } from '../../../../../runners/batch/journal/journal-snapshot.js';
import { ForgetfulDisk, type DiskCall } from '../../../../support/forgetful-disk.js';
import {
  accepted,
  completed,
  failed,
  intent,
  journalFile,
  recordsOf,
  refused,
  reopen,
  reply,
  start,
  stop,
  wholeLife,
} from '../../../../support/sample-records.js';

const folder = '/out/run';
const path = `${folder}/journal.jsonl`;
const kept = `${folder}/.journal.snapshot`;
const always = { snapshotEvery: 1 };

function diskWith(journal: Uint8Array, snapshot?: Uint8Array): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  disk.plant(path, journal);
  if (snapshot) disk.plant(kept, snapshot);
  return disk;
}

async function opened(disk: Disk, snapshotEvery = Number.MAX_SAFE_INTEGER): Promise<Journal> {
  return openJournal(disk, folder, { snapshotEvery });
}

async function snapshotOf(records: readonly JournalRecord[]): Promise<Buffer> {
  const disk = diskWith(journalFile(records));
  await (await opened(disk, 1)).close();
  const snapshot = disk.peek(kept);
  if (!snapshot) throw new Error('no snapshot was kept');
  return snapshot;
}

/** Everything that a journal tells of these rows. */
async function reported(journal: Omit<JournalReader, 'findAll'>, ids: readonly string[] = alphabet) {
  const { rows, attemptsOf, mustHold, booksOf, ...facts } = journal.recovered;
  // What leads to the jobs is made once somebody asks for one.
  expect(facts.jobs.add('endpoint', 'a job of nobody')).toBe(true);
  const states = [];
  for (const id of [...ids, 'new']) {
    const [state, records] = [rows.get(id), await journal.find(id)];
    const held = [mustHold(id, 1), mustHold(id, 2_000)];
    const same = ['0123456789', 'ffffffff'].map((hash) => state?.sameContent(hash));
    states.push({
      id,
      index: rows.indexOf(id),
      status: state?.status,
      attempts: attemptsOf(id),
      held,
      same,
      books: booksOf(id),
      records,
    });
  }
  const inOrder = [];
  for await (const row of journal.rowsIn(statuses)) inOrder.push(row);
  return { ...facts, rows: rows.size, states, inOrder, records: await recordsOf(journal) };
}

/** The same snapshot with other words in its header, and with the right checksum. */
function withHeader(snapshot: Buffer, changes: object): Buffer {
  const end = snapshot.readUInt32LE(0) + 4;
  const header = JSON.parse(snapshot.toString('utf8', 4, end)) as object;
  const text = Buffer.from(JSON.stringify({ ...header, ...changes }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const body = Buffer.concat([length, text, snapshot.subarray(end, -4)]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(body));
  return Buffer.concat([body, checksum]);
}

/** How many bytes were known from the snapshot. */
async function takenFrom(disk: Disk): Promise<number> {
  return (await readJournal(disk, path)).snapshotEnd;
}

const alphabet = ['a', 'b', 'ç"', 'd', 'e'];
const id = fc.constantFrom(...alphabet);
const price = fc.constantFrom(null, 0, 87_500, 131_250, 175_000);
const source = fc.constantFrom('reported', 'estimated', 'unknown', 'none');
const failure = fc.constantFrom('unknown', 'job-failed', 'deadline', 'download', 'invalid-row');
const record: fc.Arbitrary<JournalRecord> = fc.oneof(
  fc
    .record({ id, price, attempt: fc.nat(3), resolution: fc.constantFrom('1k', '4k'), row: fc.nat(3_000) })
    .map(({ id, ...more }) => intent(id, more)),
  id.map((id) => intent(id, { takes: 'job', jobId: 'elsewhere', price: 0 })),
  id.map(refused),
  id.map((id) => accepted(id)),
  fc.record({ id, cost: price, source }).map(({ id, ...more }) => reply(id, more)),
  fc.record({ id, cost: price, source }).map(({ id, ...more }) => completed(id, more)),
  fc
    .record({ id, failure, cost: price, source })
    .map(({ id, failure, ...more }) => failed(id, failure, more)),
  fc
    .record({
      id,
      to: fc.constantFrom('poll', 'download', 'buy'),
      why: fc.constantFrom('retry', 'redo', 'settle'),
    })
    .map(({ id, to, why }) => reopen(id, to, why)),
  fc.nat(9).map((exitCode) => stop(exitCode)),
  fc.nat(9_000).map((at) => start({ at, settings: { ledgerFile: `/ledger-${at}` } })),
  fc
    .record({ missing: fc.nat(2), heldUpToRow: fc.nat(2_500) })
    .map((more) => ({ k: 'repaired' as const, at: 7_000, ...more })),
);

describe('a journal that is read from a snapshot on', () => {
  it('tells what the whole journal tells, wherever the snapshots were made', async () => {
    let fromSnapshots = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 40 }),
        fc.array(fc.nat(40), { minLength: 1, maxLength: 3 }),
        async (records, cuts) => {
          const file = journalFile(records);
          const disk = diskWith(file);
          for (const cut of cuts.sort((a, b) => a - b)) {
            disk.plant(path, journalFile(records.slice(0, cut)));
            await (await opened(disk, 1)).close();
          }
          disk.plant(path, file);
          if (disk.peek(kept)) fromSnapshots++;
          const expected = await reported(await opened(diskWith(file)));
          expect(await reported(await opened(disk))).toEqual(expected);
          expect(await reported((await peekJournal(disk, folder))!)).toEqual(expected);
        },
      ),
      { numRuns: 80 },
    );
    expect(fromSnapshots).toBeGreaterThan(10);
  }, 600_000);

  it('holds for more rows than a chunk of the table has', async () => {
    const rows = Array.from({ length: 10_000 }, (_, n) => `row-${n}`);
    const first = rows.flatMap((id, n) => [intent(id, { row: n + 1, price: n }), reply(id), completed(id)]);
    const rest = rows
      .filter((_, n) => n % 7 === 0)
      .flatMap((id) => [reopen(id, 'buy', 'redo'), intent(id, { attempt: 2 })]);
    const added = Array.from({ length: 3_000 }, (_, n) => intent(`late-${n}`, { row: 10_001 + n }));
    const whole = journalFile([start(), ...first, ...rest, ...added]);
    const disk = diskWith(journalFile([start(), ...first]));
    await (await opened(disk, 1)).close();
    disk.plant(path, whole);
    const { recovered } = await opened(disk);
    const { recovered: expected } = await opened(diskWith(whole));
    expect(recovered.totals).toEqual(expected.totals);
    expect([...recovered.pending]).toEqual([...expected.pending]);
    for (const id of [...rows, 'late-0', 'late-2999', 'none'])
      expect([id, recovered.rows.indexOf(id), recovered.rows.get(id)?.status]).toEqual([
        id,
        expected.rows.indexOf(id),
        expected.rows.get(id)?.status,
      ]);
  });

  it('adds what is bought behind it to the accounts that it has', async () => {
    const [first, second] = [
      [intent('a'), reply('a'), completed('a')],
      [intent('b'), reply('b', { cost: 90_000 }), completed('b', { cost: 90_000 })],
    ];
    const disk = diskWith(journalFile([...first, ...second]), await snapshotOf(first));
    expect((await opened(disk)).recovered.highestReported).toEqual([
      { kind: 'edit', endpoint: 'image-edit', resolution: '1k', cost: 90_000 },
    ]);
  });

  it('goes on with what the reader appends', async () => {
    const records = wholeLife();
    const disk = diskWith(journalFile(records), await snapshotOf(records.slice(0, 9)));
    const journal = await opened(disk);
    await new Promise((resolve) => journal.append(stop(0)).subscribe({ complete: () => resolve(0) }));
    await journal.close();
    expect(disk.peek(path)).toEqual(journalFile([...records, stop(0)]));
  });
});

describe('a snapshot', () => {
  const records = wholeLife();
  const file = journalFile(records);

  it('is read in place of the records it tells of', async () => {
    for (let cut = 1; cut <= records.length; cut++)
      expect(await takenFrom(diskWith(file, await snapshotOf(records.slice(0, cut))))).toBe(
        journalFile(records.slice(0, cut)).length,
      );
    expect(await takenFrom(diskWith(file))).toBe(0);
  });

  it('is made once so many bytes are new, and then again', async () => {
    const end = (count: number): number => journalFile(records.slice(0, count)).length;
    const disk = diskWith(file.subarray(0, end(9)));
    await (await opened(disk, end(10))).close();
    expect(disk.peek(kept)).toBeUndefined();
    disk.plant(path, file.subarray(0, end(10)));
    await (await opened(disk, end(10))).close();
    const first = disk.peek(kept);
    expect(first).toBeDefined();
    disk.plant(path, file);
    await (await opened(disk, file.length - end(10) + 1)).close();
    expect(disk.peek(kept)).toEqual(first);
    await (await opened(disk, file.length - end(10))).close();
    expect(disk.peek(kept)).not.toEqual(first);
    expect(await takenFrom(disk)).toBe(file.length);
  });

  it('is not made by who only reads, nor of what ends without a newline, nor of rows that had to be opened', async () => {
    const onlyRead = diskWith(file);
    await peekJournal(onlyRead, folder);
    expect(onlyRead.peek(kept)).toBeUndefined();
    const cut = diskWith(file.subarray(0, -1));
    await (await opened(cut, 1)).close();
    expect(cut.peek(kept)).toBeUndefined();
    const lost = diskWith(journalFile([start(), accepted('a')]));
    await (await opened(lost, 1)).close();
    expect(lost.peek(kept)).toBeUndefined();
  });

  it('counts for nothing with any of its bytes changed, or cut anywhere', async () => {
    const snapshot = await snapshotOf(records);
    const expected = await reported(await opened(diskWith(file)));
    const headerEnd = snapshot.readUInt32LE(0) + 4;
    for (let at = 0; at < snapshot.length; at += at < headerEnd || at > snapshot.length - 8 ? 1 : 997) {
      const flipped = Buffer.from(snapshot);
      flipped[at]! ^= 1 << (at % 8);
      const disk = diskWith(file, flipped);
      expect((await peekJournal(disk, folder))?.recovered.totals).toEqual(expected.totals);
      const cut = diskWith(file, snapshot.subarray(0, at));
      expect((await peekJournal(cut, folder))?.recovered.totals).toEqual(expected.totals);
    }
    expect(await reported(await opened(diskWith(file, Buffer.concat([snapshot, Buffer.from('x')]))))).toEqual(
      expected,
    );
  });

  it('hides no damage of the journal: any changed byte is told as without it', async () => {
    const snapshot = await snapshotOf(records.slice(0, 9));
    for (let at = 0; at < file.length; at += 3) {
      const flipped = Buffer.from(file);
      flipped[at]! ^= 0x04;
      const [alone, beside] = await Promise.all(
        [diskWith(flipped), diskWith(flipped, snapshot)].map((disk) =>
          opened(disk).then(
            async (journal) => reported(journal),
            (error: unknown) => (error as Error).message,
          ),
        ),
      );
      expect(beside).toEqual(alone);
    }
  });

  it.each([
    ['a shorter one', file.subarray(0, 900)],
    ['an empty one', Buffer.alloc(0)],
    ['another run of the same length', journalFile(records.map((r) => ({ ...r, at: r.at + 1 })))],
  ])('counts for nothing beside another journal: %s', async (_what, other) => {
    const expected = await reported(await opened(diskWith(other)));
    expect(await reported(await opened(diskWith(other, await snapshotOf(records))))).toEqual(expected);
  });

  it.each(Object.keys(JSON.parse(madeBy) as object))(
    'counts for nothing where another %s made it',
    async (name) => {
      const snapshot = await snapshotOf(records);
      const made = JSON.stringify({ ...(JSON.parse(madeBy) as object), [name]: 'another' });
      expect(await takenFrom(diskWith(file, withHeader(snapshot, {})))).toBe(file.length);
      expect(await takenFrom(diskWith(file, withHeader(snapshot, { made })))).toBe(0);
    },
  );

  it('has another format once it keeps something else: raise it with this', () => {
    const { table, kept } = new Recovery();
    expect(Object.keys(kept)).toEqual([
      ...[
        'records',
        'recordStarts',
        'starts',
        'repairs',
        'identity',
        'firstStartAt',
        'lastStartAt',
        'lastStop',
      ],
      ...[
        'ledgerFile',
        'database',
        'heldUpToRow',
        'manifests',
        'capUsd',
        'costBy',
        'axes',
        'saveOutput',
        'rows',
        'jobs',
        'lastRow',
      ],
      ...['replaced', 'heldBefore', 'tally'],
    ]);
    const byBooking = [0, 0, 0, 0, 0, 0, 0, 0];
    expect(kept.tally).toEqual({
      statusCalls: 0,
      possiblyDouble: 0,
      columns: [],
      accounts: [
        {
          purchase: { kind: '', endpoint: '', resolution: '' },
          sums: byBooking,
          counts: byBooking,
          unpriced: byBooking,
          highest: -1,
          rows: [],
        },
      ],
    });
    expect(table.columns.map((column) => column.chunkAt(0).length / 4_096)).toEqual([
      ...[1, 4, 4, 1, 2, 1, 4, 4],
      ...[1, 2],
      ...[4, 1, 4, 1, 4, 1, 4, 1, 4, 1],
    ]);
  });
});

describe('refreshSnapshot', () => {
  const records = wholeLife();
  const file = journalFile(records);

  it('keeps what a run has added, once it is much', async () => {
    const disk = diskWith(file, await snapshotOf(records.slice(0, 9)));
    const added = file.length - journalFile(records.slice(0, 9)).length;
    await refreshSnapshot(disk, folder, { every: added + 1 });
    expect(disk.log).not.toContain(`read ${path}`);
    expect(await takenFrom(disk)).toBe(file.length - added);
    await refreshSnapshot(disk, folder, { every: added });
    expect(await takenFrom(disk)).toBe(file.length);
    expect(disk.peek(path)).toEqual(file);
  });

  it.each([
    ['no journal', undefined, undefined],
    ['a broken journal', Buffer.concat([Buffer.from('{}\n'), file]), undefined],
    ['a snapshot that is none', file, Buffer.from([255, 255, 255, 255, 0])],
  ])('leaves %s to the next start', async (_what, journal, snapshot) => {
    const disk = new ForgetfulDisk();
    if (journal) disk.plant(path, journal);
    if (snapshot) disk.plant(kept, snapshot);
    await refreshSnapshot(disk, folder, { every: 1 });
    expect(disk.peek(path)).toEqual(journal);
    expect(disk.peek(kept)).toEqual(snapshot);
  });
});

describe('a disk that lets no snapshot be kept, or read', () => {
  const records = wholeLife();
  const file = journalFile(records);
  const calls: readonly DiskCall[] = ['stat', 'open', 'read', 'write', 'sync', 'rename', 'size', 'close'];

  it.each(calls)('costs the run nothing: %s', async (call) => {
    const snapshot = await snapshotOf(records.slice(0, 9));
    const expected = await reported(await opened(diskWith(file)));
    for (const code of ['EIO', 'ENOSPC', 'EMFILE', 'EROFS', 'EACCES'] as const) {
      const disk = new ForgetfulDisk({ faults: [{ code, call, path: '.journal.snapshot' }] });
      disk.plant(path, file);
      disk.plant(kept, snapshot);
      expect(await reported(await openJournal(disk, folder, always))).toEqual(expected);
      expect(disk.paths().filter((name) => name.endsWith('.tmp'))).toEqual([]);
    }
  });

  it('costs the run nothing where a folder has its name', async () => {
    const disk = diskWith(file);
    await disk.mkdir(kept);
    const { recovered } = await openJournal(disk, folder, always);
    expect(recovered.records).toBe(records.length);
  });

  it('leaves the last one, the new one, or none that counts, wherever the power is cut', async () => {
    const expected = await reported(await opened(diskWith(file)));
    for (let crashAt = 1; crashAt < 60; crashAt++) {
      const disk = new ForgetfulDisk({ crashAt, random: () => ((crashAt * 7) % 10) / 10 });
      disk.plant(path, file);
      disk.plant(kept, await snapshotOf(records.slice(0, 9)));
      await openJournal(disk, folder, always).catch(() => undefined);
      expect(await reported(await openJournal(disk.restart(), folder, always))).toEqual(expected);
    }
  });
});
