import { describe, expect, it } from 'vitest';
import { firstValueFrom } from 'rxjs';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import type { Journal } from '../../../../runners/batch/journal/journal.js';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import { Projections } from '../../../../runners/batch/sinks/projections.js';
import type { FilesCovered } from '../../../../runners/batch/sinks/spreadsheet.js';
import { createRandom } from '../../../bench/polling/lognormal-run-times.js';
import { countingFiles } from '../../../support/counting-files.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { LateDisk, someSteps } from '../../../support/late-disk.js';

const folder = '/out';
const names = ['results.jsonl', 'failures.jsonl', 'costs.csv', 'earlier.jsonl'];
const at = Date.UTC(2027, 0, 1);

function intent(id: string, attempt = 1): JournalRecord {
  return {
    k: 'intent',
    at,
    id,
    row: 1,
    hash: 'ab',
    kind: 'job',
    endpoint: 'echo',
    mode: 'sync',
    attempt,
    price: null,
    request: { kind: 'job', input: { attempt } },
    cells: { id },
    columns: {},
  };
}
const reply = (id: string): JournalRecord => ({
  k: 'reply',
  at,
  id,
  output: 1,
  cost: null,
  source: 'estimated',
  statusCalls: 0,
  submittedAt: at,
});
function outcome(id: string, status: 'completed' | 'failed', attempt = 1): JournalRecord & { k: 'outcome' } {
  const facts = {
    k: 'outcome',
    at,
    id,
    cost: 0,
    source: 'estimated',
    statusCalls: 0,
    submittedAt: at,
  } as const;
  const purchase = { row: 1, attempt, endpoint: 'echo', settledAt: at };
  if (status === 'completed') return { ...facts, status, purchase };
  return {
    ...facts,
    status,
    purchase,
    error: { code: 'job-failed', message: 'no', retryable: true, paid: 'no' },
  };
}
const reopen = (id: string, why: 'retry' | 'redo' | 'refetch'): JournalRecord => ({
  k: 'reopen',
  at,
  id,
  why,
  to: why === 'refetch' ? 'download' : 'buy',
});

async function append(journal: Journal, ...records: JournalRecord[]): Promise<void> {
  for (const record of records) await firstValueFrom(journal.append(record));
}

function files(disk: ForgetfulDisk): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, disk.peek(`${folder}/${name}`)?.toString() ?? '']));
}
const lines = (text = ''): { id: string; attempts: number }[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: string; attempts: number });
const ids = (text?: string): string[] => lines(text).map(({ id }) => id);
/** Ids with the number of their purchase. */
const versions = (text?: string): string[] => lines(text).map(({ id, attempts }) => `${id} ${attempts}`);

/** The files as they follow from the journal, brought there by a fresh start with what `mark` says. */
async function caughtUp(disk: ForgetfulDisk, covered?: FilesCovered) {
  const journal = await openJournal(disk, folder);
  const projections = await Projections.open({ disk, folder, journal, covered });
  const next = await projections.sync();
  await projections.close();
  await journal.close();
  return next;
}

const life = [
  ...[intent('a'), reply('a'), outcome('a', 'completed')],
  ...[intent('b'), outcome('b', 'failed')],
  ...[intent('c'), reply('c'), outcome('c', 'completed')],
];
const later = [
  ...[reopen('b', 'retry'), reopen('a', 'redo')],
  ...[intent('b', 2), reply('b'), outcome('b', 'completed', 2)],
  ...[intent('a', 2), outcome('a', 'failed', 2)],
];

/** Its request had no answer, it was to be sent again, a callback named its job, and that has expired: it may have been paid once. */
const expired: JournalRecord[] = [
  ...[intent('d'), unknown('d')],
  ...[reopen('d', 'retry'), intent('d'), { k: 'accepted', at, id: 'd', jobId: 'j' } as const],
  unknown('d', 'j'),
  {
    k: 'freed',
    at,
    id: 'd',
    row: 1,
    kind: 'job',
    endpoint: 'echo',
    attempt: 1,
    price: 5,
    cost: null,
    source: 'none',
    cells: {},
    columns: {},
  },
];

function unknown(id: string, jobId?: string): JournalRecord {
  const { purchase, ...facts } = outcome(id, 'failed');
  const made = { ...purchase, ...(jobId !== undefined && { jobId }) };
  return { ...facts, cost: 5, source: 'unknown', purchase: made } as JournalRecord;
}

describe('Projections', () => {
  it('keep what the job of a request may cost, and not what was held for the request, however far they had come', async () => {
    for (let done = 0; done <= expired.length; done++) {
      const disk = new ForgetfulDisk();
      const journal = await openJournal(disk, folder);
      await append(journal, ...life, ...expired.slice(0, done));
      await journal.close();
      const covered = await caughtUp(disk);
      const again = await openJournal(disk, folder);
      await append(again, ...expired.slice(done));
      await again.close();
      await caughtUp(disk, covered);
      const lines = (files(disk)['costs.csv'] ?? '').split('\n').filter((line) => line.startsWith('d,'));
      expect(lines, `after ${done} records`).toEqual([
        expect.stringMatching(/^d,1,1,j,echo,,0\.000005,unknown,/),
      ]);
    }
  });

  it('follow from the journal alone', async () => {
    const disk = new ForgetfulDisk();
    const journal = await openJournal(disk, folder);
    await append(journal, ...life, ...later);
    await journal.close();
    await caughtUp(disk);
    const now = files(disk);
    expect(versions(now['results.jsonl'])).toEqual(['a 1', 'c 1', 'b 2']);
    expect(ids(now['failures.jsonl'])).toEqual(['a']);
    expect(now['earlier.jsonl']).toBe('');
    expect(now['costs.csv']?.split('\n')).toHaveLength(7);
  });

  it.each(['open', 'write', 'sync', 'syncFolder', 'stat', 'truncate'] as const)(
    'leave no file open when they cannot be opened because of a full disk (%s)',
    async (call) => {
      for (let nth = 1; nth <= 12; nth++) {
        const disk = new ForgetfulDisk();
        const journal = await openJournal(disk, folder);
        await append(journal, ...life, ...later);
        await journal.close();
        const full = new ForgetfulDisk({ faults: [{ code: 'ENOSPC', call, nth, lasting: true }] });
        full.plant('/out/journal.jsonl', disk.peek('/out/journal.jsonl')?.toString() ?? '');
        const counted = countingFiles(full);
        const again = await openJournal(full, folder).catch(() => undefined);
        if (again === undefined) continue;
        const sheets = { results: ['n'], failures: ['n'] };
        const opened = await Projections.open({ disk: counted.disk, folder, journal: again, sheets }).catch(
          () => undefined,
        );
        await opened?.close();
        await again.close();
        expect(counted.open()).toBe(0);
      }
    },
  );

  it('are the same whether they are gone on with or written anew', async () => {
    const disk = new ForgetfulDisk();
    const journal = await openJournal(disk, folder);
    await append(journal, ...life);
    await journal.close();
    const covered = await caughtUp(disk);
    expect(ids(files(disk)['results.jsonl'])).toEqual(['a', 'c']);
    const again = await openJournal(disk, folder);
    await append(again, ...later);
    await again.close();
    await caughtUp(disk, covered);
    const gone = files(disk);
    for (const name of names) if (gone[name] !== '') await disk.unlink(`${folder}/${name}`);
    await caughtUp(disk);
    expect(files(disk)).toEqual(gone);
  });

  it('keep the result of a row that is redone until the next one is there, and then the one before in earlier.jsonl', async () => {
    const disk = new ForgetfulDisk();
    const journal = await openJournal(disk, folder);
    await append(journal, ...life, reopen('a', 'redo'), intent('a', 2));
    const projections = await Projections.open({ disk, folder, journal });
    expect(versions(files(disk)['results.jsonl'])).toEqual(['a 1', 'c 1']);
    const end = outcome('a', 'completed', 2);
    await append(journal, reply('a'), end);
    const row = { intent: intent('a', 2) as never, reply: reply('a') as never, outcome: end };
    await projections.write(row, life.length + 4);
    expect(versions(files(disk)['results.jsonl'])).toEqual(['a 1', 'c 1', 'a 2']);
    expect(versions(files(disk)['earlier.jsonl'])).toEqual(['a 1']);
    await projections.finish();
    expect(versions(files(disk)['results.jsonl'])).toEqual(['c 1', 'a 2']);
    expect(versions(files(disk)['earlier.jsonl'])).toEqual(['a 1']);
    await projections.close();
  });

  it('leave results.csv as it is where a failed row is tried again: only failures.csv loses a line', async () => {
    const disk = new ForgetfulDisk();
    const sheets = { results: [], failures: [] };
    const journal = await openJournal(disk, folder);
    await append(journal, ...life);
    const first = await Projections.open({ disk, folder, journal, sheets });
    const covered = await first.sync();
    await first.close();
    await journal.close();
    const idOf = async (name: string) => (await disk.stat(`${folder}/${name}`))?.id;
    const before = [await idOf('results.csv'), await idOf('failures.csv')];
    const text = disk.peek(`${folder}/results.csv`)?.toString();
    const again = await openJournal(disk, folder);
    const second = await Projections.open({ disk, folder, journal: again, covered, sheets });
    await append(again, reopen('b', 'retry'));
    await second.catchUp();
    await second.finish();
    expect(disk.peek(`${folder}/results.csv`)?.toString()).toBe(text);
    expect(disk.peek(`${folder}/failures.csv`)?.toString().trimEnd().split('\n')).toHaveLength(1);
    expect(await idOf('results.csv')).toBe(before[0]);
    expect(await idOf('failures.csv')).not.toBe(before[1]);
    await second.close();
    await again.close();
  });

  it('have the line of a result whose files were fetched anew once, in its last form', async () => {
    const disk = new ForgetfulDisk();
    const journal = await openJournal(disk, folder);
    await append(journal, ...life);
    await journal.close();
    const covered = await caughtUp(disk);
    const again = await openJournal(disk, folder);
    const file = { field: 'output.doc', path: 'files/a.pdf' };
    await append(again, reopen('a', 'refetch'), { ...outcome('a', 'completed'), files: [file] });
    await again.close();
    await caughtUp(disk, covered);
    expect(lines(files(disk)['results.jsonl'])).toMatchObject([{ id: 'c' }, { id: 'a', files: [file] }]);
    expect(files(disk)['earlier.jsonl']).toBe('');
  });

  it.each(Array.from({ length: 60 }, (_, seed) => [seed]))(
    'are the same as from the journal alone, however rows are redone, fail, and starts die (schedule %i)',
    (seed) => redoneAtRandom(createRandom(seed)),
  );

  it('name no purchase twice: what was held leaves costs.csv once its job is asked for again', async () => {
    const disk = new ForgetfulDisk();
    const held = (id: string, settledAt = at): JournalRecord => ({
      ...outcome(id, 'failed'),
      source: 'unknown',
      cost: 87_500,
      purchase: { row: 1, attempt: 1, endpoint: 'echo', settledAt },
    });
    const polled = (id: string): JournalRecord => ({
      k: 'reopen',
      at,
      id,
      why: 'retry',
      to: 'poll',
      voids: 1,
    });
    const id = 'two\nlines, "quoted"';
    const journal = await openJournal(disk, folder);
    await append(journal, intent('a'), held('a'), intent(id), held(id), intent('c'), held('c'));
    await journal.close();
    const covered = await caughtUp(disk);
    expect(files(disk)['costs.csv']?.match(/,unknown,/g)).toHaveLength(3);
    const again = await openJournal(disk, folder);
    await append(again, polled('a'), polled(id), outcome(id, 'completed'), held('a'), polled('a'));
    await append(again, held('a', at + 1));
    await again.close();
    await caughtUp(disk, covered);
    const gone = files(disk);
    const [, c, b, a] = gone['costs.csv']?.split(/\n(?=[ac"])/) ?? [];
    expect(c).toMatch(/^c,.*,unknown,/);
    expect(b).toMatch(/^"two\nlines, ""quoted""",.*,estimated,/);
    expect(a).toMatch(/^a,.*,unknown,.*\.001Z\n$/);
    for (const name of names.slice(0, 3)) await disk.unlink(`${folder}/${name}`);
    await caughtUp(disk);
    expect(files(disk)).toEqual(gone);
  });

  it.each([
    [
      'a file that is shorter than the mark',
      (disk: ForgetfulDisk) => disk.plant(`${folder}/results.jsonl`, ''),
    ],
    [
      'a file that was changed',
      (disk: ForgetfulDisk) =>
        disk.plant(`${folder}/costs.csv`, files(disk)['costs.csv']!.replace('echo', 'ECHO')),
    ],
    [
      'lines behind the mark',
      (disk: ForgetfulDisk) =>
        disk.plant(`${folder}/failures.jsonl`, `${files(disk)['failures.jsonl']!}{"id":"x"}\n`),
    ],
  ])('are put right after a crash: %s', async (_what, damage) => {
    const disk = new ForgetfulDisk();
    const journal = await openJournal(disk, folder);
    await append(journal, ...life);
    await journal.close();
    const covered = await caughtUp(disk);
    const right = files(disk);
    const again = await openJournal(disk, folder);
    await append(again, intent('d'));
    await again.close();
    damage(disk);
    await caughtUp(disk, covered);
    expect(files(disk)).toEqual(right);
  });

  it('write what ends while they are open, and tell how far they are', async () => {
    const disk = new ForgetfulDisk();
    const journal = await openJournal(disk, folder);
    const projections = await Projections.open({ disk, folder, journal });
    const record = outcome('a', 'completed');
    await append(journal, intent('a'), reply('a'), record);
    await projections.write({ intent: intent('a') as never, reply: reply('a') as never, outcome: record }, 3);
    expect(ids(files(disk)['results.jsonl'])).toEqual(['a']);
    expect((await projections.sync()).records).toBe(3);
    const later = disk.restart({ random: () => 0 });
    expect(ids(files(later)['results.jsonl'])).toEqual(['a']);
  });

  it('lose no line of rows that end while the files are synced', async () => {
    const disk = new ForgetfulDisk();
    const journal = await openJournal(disk, folder);
    const projections = await Projections.open({ disk, folder, journal });
    const names = Array.from({ length: 60 }, (_, index) => `row-${index}`);
    let record = 0;
    for (const name of names) {
      const ended = { intent: intent(name) as never, reply: reply(name) as never };
      const isSynced = projections.sync();
      // Some calls of the disk later, so that the lines come at each step of the sync.
      for (let step = 0; step < record % 20; step += 1) await Promise.resolve();
      await projections.write({ ...ended, outcome: outcome(name, 'completed') }, (record += 1));
      await isSynced;
    }
    await projections.finish();
    expect(ids(files(disk)['results.jsonl'])).toEqual(names);
  });

  it('are synced between two appends, however the rows come: as far as they then go, all of them do', async () => {
    const chance = createRandom(7);
    const disk = new LateDisk(chance);
    const journal = await openJournal(disk, folder);
    const names = Array.from({ length: 2_000 }, (_, index) => `row-${index}`);
    const projections = await Projections.open({ disk, folder, journal });
    for (const id of names) await append(journal, intent(id), reply(id), outcome(id, 'completed'));
    let next = 0;
    const ends = async (): Promise<void> => {
      for (let id = names[next]; id !== undefined; id = names[next]) {
        next += 1;
        const ended = { intent: intent(id) as never, reply: reply(id) as never };
        await projections.write({ ...ended, outcome: outcome(id, 'completed') }, next * 3);
        await someSteps(chance, 400);
      }
    };
    const covered: FilesCovered[] = [];
    const syncs = async (): Promise<void> => {
      while (next < names.length) covered.push(await projections.sync());
    };
    await Promise.all([...Array.from({ length: 12 }, ends), syncs()]);
    await projections.close();
    expect(covered.length).toBeGreaterThan(20);
    const far = (name: string, bytes = 0): number =>
      files(disk)[name]!.slice(0, bytes).split('\n').length - 1;
    for (const { records, files: extents } of covered) {
      expect(far('results.jsonl', extents['results.jsonl']?.bytes)).toBe(records / 3);
      expect(far('costs.csv', extents['costs.csv']?.bytes)).toBe(records / 3 + 1);
    }
  });

  it('answer everything with the first fault of the disk', async () => {
    const disk = new ForgetfulDisk({ faults: [{ code: 'EIO', call: 'write', path: 'results.jsonl' }] });
    const journal = await openJournal(disk, folder);
    const projections = await Projections.open({ disk, folder, journal });
    const row = {
      intent: intent('a') as never,
      reply: reply('a') as never,
      outcome: outcome('a', 'completed'),
    };
    await expect(projections.write(row, 1)).rejects.toMatchObject({ code: 'disk', errno: 'EIO' });
    await expect(projections.write(row, 2)).rejects.toMatchObject({ code: 'disk' });
    await expect(projections.sync()).rejects.toMatchObject({ code: 'disk' });
  });
});

/** Rows are bought, redone and fetched anew in several starts, which end or die anywhere. */
async function redoneAtRandom(chance: () => number): Promise<void> {
  let disk = new ForgetfulDisk();
  let covered: FilesCovered | undefined;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)] as T;
  const rows = new Map(['a', 'b', 'c', 'd'].map((id) => [id, { status: 'open', attempts: 0, best: 0 }]));
  for (let start = 0; start < 6; start++) {
    const journal = await openJournal(disk, folder);
    let { records } = journal.recovered;
    const write = async (...some: JournalRecord[]): Promise<void> => {
      await append(journal, ...some);
      records += some.length;
    };
    const sheets = { results: ['n'], failures: ['n'] };
    const projections = await Projections.open({ disk, folder, journal, covered, sheets });
    const there = versions(files(disk)['results.jsonl']);
    expect(new Set(ids(files(disk)['results.jsonl'])).size).toBe(there.length);
    expect(sheetVersions(disk)).toEqual(there);
    const isSeen = (): void => {
      const last = new Map(lines(files(disk)['results.jsonl']).map(({ id, attempts }) => [id, attempts]));
      for (const [id, { best }] of rows) expect(last.get(id) ?? 0, id).toBe(best);
      const before = versions(files(disk)['earlier.jsonl']);
      expect(new Set(before).size).toBe(before.length);
    };
    isSeen();
    for (const [id, row] of rows) {
      if (row.status === 'open' || chance() < 0.4) continue;
      const why = row.status === 'failed' ? 'retry' : pick(['redo', 'redo', 'refetch'] as const);
      await write(reopen(id, why));
      row.status = why === 'refetch' ? 'replied' : 'open';
    }
    if (chance() < 0.2) covered = await projections.sync();
    await projections.catchUp();
    isSeen();
    const dies = chance() < 0.5;
    for (const id of ['a', 'b', 'c', 'd'].sort(() => chance() - 0.5)) {
      const row = rows.get(id)!;
      if ((row.status !== 'open' && row.status !== 'replied') || chance() < 0.2) continue;
      if (row.status === 'open') await write(intent(id, ++row.attempts));
      const status = chance() < 0.6 ? 'completed' : 'failed';
      const end = outcome(id, status, row.attempts);
      await write(...(status === 'completed' && row.status === 'open' ? [reply(id)] : []), end);
      const isLost = dies && chance() < 0.3;
      row.status = status;
      if (status === 'completed') row.best = row.attempts;
      if (isLost) break;
      await projections.write(
        { intent: intent(id, row.attempts) as never, reply: reply(id) as never, outcome: end },
        records,
      );
      isSeen();
      if (chance() < 0.3) covered = await projections.sync();
    }
    if (!dies) await projections.finish();
    if (!dies || chance() < 0.2) covered = await projections.sync();
    await projections.close();
    await journal.close();
    if (dies && chance() < 0.5) disk = disk.restart({ random: chance });
  }
  await caughtUp(disk, covered);
  const gone = files(disk);
  expect(sheetVersions(disk)).toEqual(versions(gone['results.jsonl']));
  for (const name of names) if (disk.peek(`${folder}/${name}`)) await disk.unlink(`${folder}/${name}`);
  await caughtUp(disk);
  expect(files(disk)).toEqual(gone);
}

function sheetVersions(disk: ForgetfulDisk): string[] {
  const [head = '', ...rows] = (disk.peek(`${folder}/results.csv`)?.toString() ?? '').trimEnd().split('\n');
  const at = head.split(',').indexOf('attempts');
  return rows.map((row) => `${row.split(',')[0]} ${row.split(',')[at]}`);
}
