import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../../../runners/batch/journal/journal.js';
import { JournalError } from '../../../../runners/batch/journal/journal-error.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import { ForgetfulDisk, PowerCut } from '../../../support/forgetful-disk.js';
import type { ForgetfulDiskOptions } from '../../../support/forgetful-disk.js';
import { seeded } from '../../../support/seeded.js';
import {
  accepted,
  append,
  completed,
  failed,
  intent,
  journalFile,
  recordsOf,
  reopen,
  reply,
  start,
  stop,
  wholeLife,
} from '../../../support/sample-records.js';

const folder = '/out/run';
const path = `${folder}/journal.jsonl`;

async function filled(
  records: readonly JournalRecord[],
  options?: ForgetfulDiskOptions,
): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk(options);
  disk.plant(path, journalFile(records));
  return disk;
}

describe('openJournal', () => {
  it('makes the folder and the file, and both survive a power cut', async () => {
    const disk = new ForgetfulDisk({ random: () => 0 });
    const journal = await openJournal(disk, folder);
    expect(journal.recovered).toMatchObject({ starts: 0, records: 0, lastRow: 0, tornBytes: 0 });
    await append(journal, start());
    expect(await recordsOf(await openJournal(disk.restart(), folder))).toEqual([start()]);
  });

  it('goes on where an earlier start stopped, with one sequence', async () => {
    const disk = await filled(wholeLife());
    const journal = await openJournal(disk, folder);
    await append(journal, stop());
    await journal.close();
    const again = await openJournal(disk, folder);
    expect(again.recovered.records).toBe(wholeLife().length + 1);
    expect(await recordsOf(again)).toEqual([...wholeLife(), stop()]);
  });

  it('gives what was left: rows, money, rows that have not ended', async () => {
    const { recovered } = await openJournal(await filled(wholeLife()), folder);
    expect(recovered).toMatchObject({ starts: 2, firstStartAt: 1_000, lastStartAt: 10_000, lastRow: 5 });
    expect(recovered.lastStop).toBeUndefined();
    expect(recovered.attemptsOf('a')).toBe(2);
    expect(recovered.attemptsOf('nobody')).toBe(0);
    expect(
      [...recovered.pending.values()].map(({ id, status, jobId, price }) => [id, status, jobId, price]),
    ).toEqual([
      ['e', 'accepted', 'elsewhere', 0],
      ['ç"', 'replied', 'job-ç"', 87_500],
      ['b', 'sent', undefined, 87_500],
    ]);
    expect(recovered.totals).toMatchObject({
      spent: { reported: 175_000 },
      unknown: 87_500,
      reserved: 87_500,
    });
    expect(recovered.totals.rows).toEqual(
      new Map([
        ['completed', 1],
        ['sent', 1],
        ['replied', 1],
        ['invalid-row', 1],
        ['accepted', 1],
      ]),
    );
  });

  it('puts accepted rows in front, the oldest first', async () => {
    const rows = ['x', 'y', 'z'].map((id, row) => intent(id, { row }));
    const disk = await filled([...rows, accepted('z', { at: 5 }), accepted('x', { at: 7 })]);
    expect([...(await openJournal(disk, folder)).recovered.pending.keys()]).toEqual(['z', 'x', 'y']);
  });

  it('keeps the records of a row that is taken up again', async () => {
    const image = { imageUrl: 'https://results.test/a.png' };
    const disk = await filled([
      intent('a'),
      accepted('a'),
      reply('a'),
      failed('a', 'download', image),
      reopen('a', 'download'),
    ]);
    const journal = await openJournal(disk, folder);
    expect(journal.recovered.pending.get('a')).toEqual({
      id: 'a',
      status: 'replied',
      attempts: 1,
      price: 87_500,
      jobId: 'job-a',
      acceptedAt: 2_200,
      intent: intent('a'),
      reply: reply('a'),
      outcome: failed('a', 'download', image),
    });
  });

  it('mixes nothing of an earlier purchase into the one that followed', async () => {
    const earlier = [
      intent('a'),
      accepted('a'),
      reply('a'),
      failed('a', 'output-mismatch'),
      reopen('a', 'buy'),
    ];
    const journal = await openJournal(await filled([...earlier, intent('a', { attempt: 2 })]), folder);
    const pending = journal.recovered.pending.get('a');
    expect(pending).toEqual({
      id: 'a',
      status: 'sent',
      attempts: 2,
      price: 87_500,
      intent: intent('a', { attempt: 2 }),
    });
  });

  it('finds rows by their state and by their id, with all they left', async () => {
    const disk = await filled([
      ...wholeLife(),
      failed('f', 'deadline', { jobId: 'job-f' }),
      failed('g', 'rejected'),
    ]);
    const journal = await openJournal(disk, folder);
    const ids: string[] = [];
    for await (const { id } of journal.rowsIn(['deadline', 'invalid-row'])) ids.push(id);
    expect(ids).toEqual(['d', 'f']);
    expect(await journal.find('f')).toMatchObject({
      id: 'f',
      status: 'deadline',
      jobId: 'job-f',
      attempts: 0,
    });
    expect(await journal.find('a')).toMatchObject({
      status: 'completed',
      reply: reply('a'),
      outcome: completed('a'),
    });
    expect(await journal.find('nobody')).toBeUndefined();
  });

  it('reads only what is durable, from the record that it is told', async () => {
    const disk = await filled(wholeLife());
    const journal = await openJournal(disk, folder);
    await append(journal, stop(1));
    const reading = journal.records(wholeLife().length - 1)[Symbol.asyncIterator]();
    await append(journal, stop(2));
    expect((await reading.next()).value).toEqual(wholeLife().at(-1));
    expect((await reading.next()).value).toEqual(stop(1));
  });

  it('reads from any record on without reading what stands long before it', async () => {
    const many = Array.from({ length: 9_000 }, (_, row) => intent(`row-${row}`, { row }));
    const disk = await filled(many);
    const journal = await openJournal(disk, folder);
    const more = Array.from({ length: 5 }, (_, row) => intent(`row-${9_000 + row}`));
    for (const record of more) await append(journal, record);
    const all = [...many, ...more];
    for (const after of [0, 1, 4_095, 4_096, 4_097, 8_192, 8_999, 9_000, 9_003, 9_005, 20_000]) {
      const first = await journal.records(after)[Symbol.asyncIterator]().next();
      expect([after, (first.value as { id?: string } | undefined)?.id]).toEqual([after, all[after]?.id]);
    }
    const reads = disk.counts.read!;
    for await (const { k } of journal.records(8_500)) expect(k).toBe('intent');
    expect(disk.counts.read! - reads).toBeLessThan(4);
  });

  it('cuts a torn tail off, and gives a record its newline', async () => {
    const whole = journalFile(wholeLife());
    for (const cut of [whole.length - 1, whole.length - 2, whole.length - 300]) {
      const disk = new ForgetfulDisk();
      disk.plant(path, whole.subarray(0, cut));
      const journal = await openJournal(disk, folder);
      await append(journal, stop(7));
      const { records } = journal.recovered;
      expect(disk.peek(path)).toEqual(journalFile([...wholeLife().slice(0, records), stop(7)]));
    }
  });

  it('does not open the same journal as sound after one that was refused', async () => {
    const disk = await filled(wholeLife());
    const bytes = disk.peek(path)!;
    bytes[20]! ^= 1;
    disk.plant(path, bytes);
    await expect(openJournal(disk, folder)).rejects.toMatchObject({ code: 'journal-broken', line: 1 });
    expect(disk.peek(path)).toEqual(bytes);
  });
});

describe('openJournal on a disk that fails', () => {
  const codes = ['ENOSPC', 'EIO', 'EFBIG', 'EMFILE', 'EROFS'] as const;

  it('errors as a JournalError at any call, and resumes with every durable record once the disk is well', async () => {
    const calls = await callsOfASession();
    expect(calls).toBeGreaterThan(15);
    for (const code of codes) {
      for (let nth = 1; nth <= calls; nth++) {
        for (const lasting of [false, true]) {
          const disk = new ForgetfulDisk({ faults: [{ code, nth, lasting }] });
          const { durable, errors } = await session(disk);
          for (const error of errors) {
            expect(error).toBeInstanceOf(JournalError);
            expect(error).toMatchObject({ code: 'journal-io', errno: code });
          }
          disk.heal();
          const after = await recordsOf(await openJournal(disk.restart(), folder));
          expect(after.slice(0, durable.length)).toEqual(durable);
        }
      }
    }
  });

  it.each([
    ['EROFS', 'mkdir', 'read-only'],
    ['EACCES', 'open', 'no right to it'],
    ['EMFILE', 'open', 'too many files'],
  ] as const)('says what is the matter and that nothing was sent: %s', async (code, call, words) => {
    const error: unknown = await openJournal(new ForgetfulDisk({ faults: [{ code, call }] }), folder).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 'journal-io', errno: code });
    expect((error as Error).message).toContain(words);
    expect((error as Error).message).toContain('Nothing was sent.');
  });

  it('says that its place is a file', async () => {
    const disk = new ForgetfulDisk();
    disk.plant(folder, 'a file');
    await expect(openJournal(disk, folder)).rejects.toThrow('is a file, not a folder');
  });

  it('tells of a disk that fails while rows are looked up', async () => {
    const faults = [{ code: 'EIO', call: 'read', nth: 9, lasting: true }] as const;
    const journal = await openJournal(
      await filled([intent('a'), failed('a', 'rejected')], { faults: [] }),
      folder,
    );
    expect(await journal.find('a')).toBeDefined();
    const disk = await filled([intent('a'), failed('a', 'rejected')], { faults });
    const failing = await openJournal(disk, folder);
    const reads = [
      () => failing.find('a'),
      () => recordsOf(failing),
      () => failing.rowsIn(['rejected'])[Symbol.asyncIterator]().next(),
    ];
    for (let i = 0; i < 9; i++) await failing.find('a').catch(() => undefined);
    for (const read of reads)
      await expect(read()).rejects.toMatchObject({ code: 'journal-io', errno: 'EIO' });
  });
});

describe('openJournal and power cuts', () => {
  it('keeps whatever append reported as durable, in order, whenever the power goes', async () => {
    const calls = await callsOfASession();
    for (let crashAt = 1; crashAt <= calls + 1; crashAt++) {
      for (let seed = 0; seed < 12; seed++) await survives(crashAt, seed);
    }
  });

  it('does so over any number of starts, each ended by a power cut or a kill somewhere', async () => {
    const oneStart = fc.record({
      records: fc.integer({ min: 0, max: 12 }),
      together: fc.integer({ min: 1, max: 4 }),
      crashAt: fc.integer({ min: 1, max: 45 }),
      end: fc.constantFrom('power cut', 'kill'),
    });
    const starts = fc.array(oneStart, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(starts, fc.nat(), fc.boolean(), async (given, seed, shortTransfers) => {
        const random = seeded(seed);
        let disk = new ForgetfulDisk({ random });
        let known: JournalRecord[] = [];
        let number = 0;
        for (const { records, together, crashAt, end } of given) {
          const options = { random, crashAt, shortTransfers };
          disk = end === 'kill' ? disk.handOver(options) : disk.restart(options);
          const made = Array.from({ length: records }, () => intent(`row-${++number}`, { row: number }));
          const { before, durable } = await run(disk, made, together);
          // Nothing that was durable is gone, and nothing is there that was never appended.
          if (before) expect(before.slice(0, known.length)).toEqual(known);
          known = [...(before ?? known), ...durable];
        }
        const left = await recordsOf(await openJournal(disk.restart({ random }), folder));
        expect(left.slice(0, known.length)).toEqual(known);
        const rows = left.map((record) => (record as { row: number }).row);
        expect(rows).toEqual(rows.toSorted((a, b) => a - b));
        expect(Math.max(0, ...rows)).toBeLessThanOrEqual(number);
      }),
      { numRuns: 250 },
    );
  });
});

async function survives(crashAt: number, seed: number): Promise<void> {
  const disk = new ForgetfulDisk({ crashAt, random: seeded(seed) });
  const { durable, appended } = await session(disk);
  const left = await recordsOf(await openJournal(disk.restart(), folder));
  expect(left.slice(0, durable.length)).toEqual(durable);
  expect(appended.slice(0, left.length)).toEqual(left);
}

/** What one start does: some records one by one, some together. */
async function session(
  disk: ForgetfulDisk,
): Promise<{ durable: JournalRecord[]; appended: JournalRecord[]; errors: unknown[] }> {
  const durable: JournalRecord[] = [];
  const appended: JournalRecord[] = [];
  const errors: unknown[] = [];
  const note = (error: unknown): void => {
    if (!(error instanceof PowerCut) && !isPowerCut(error)) errors.push(error);
  };
  const journal = await openJournal(disk, folder).catch(note);
  if (!journal) return { durable, appended, errors };
  for (const group of [
    [start()],
    [intent('a'), intent('b'), intent('c')],
    [accepted('a')],
    [reply('a'), completed('a')],
  ]) {
    appended.push(...group);
    const results = await Promise.allSettled(group.map((record) => append(journal, record)));
    results.forEach((result, index) =>
      result.status === 'fulfilled' ? durable.push(group[index]!) : note(result.reason),
    );
  }
  await journal.close().catch(() => undefined);
  return { durable, appended, errors };
}

function isPowerCut(error: unknown): boolean {
  return error instanceof JournalError && error.cause instanceof PowerCut;
}

async function callsOfASession(): Promise<number> {
  const disk = new ForgetfulDisk();
  await session(disk);
  return disk.calls;
}

/** Opens, and appends `together` records at a time until the power goes. */
async function run(
  disk: ForgetfulDisk,
  records: readonly JournalRecord[],
  together: number,
): Promise<{ before: JournalRecord[] | undefined; durable: JournalRecord[] }> {
  const durable: JournalRecord[] = [];
  const journal: Journal | undefined = await openJournal(disk, folder).catch(() => undefined);
  if (journal === undefined) return { before: undefined, durable };
  const before = await recordsOf(journal).catch(() => undefined);
  if (before === undefined) return { before, durable };
  for (let at = 0; at < records.length; at += together) {
    const group = records.slice(at, at + together);
    const results = await Promise.allSettled(group.map((record) => append(journal, record)));
    durable.push(...group.filter((_, index) => results[index]?.status === 'fulfilled'));
  }
  return { before, durable };
}
