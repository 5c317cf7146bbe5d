import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { seeded } from '../../../support/seeded.js';
import {
  accepted,
  append,
  completed,
  failed,
  intent,
  journalFile,
  recordsOf,
  refused,
  start,
  stop,
  wholeLife,
} from '../../../support/sample-records.js';

const folder = '/out/run';
const path = `${folder}/journal.jsonl`;
const options = { repair: true, now: () => 77 };

function damaged(
  records: readonly JournalRecord[],
  index: number,
  change = (byte: number) => byte ^ 1,
): Buffer {
  const file = journalFile(records);
  const at = journalFile(records.slice(0, index)).length + 12;
  file[at] = change(file[at]!);
  return file;
}

function diskWith(content: Uint8Array): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  disk.plant(path, content);
  return disk;
}

describe('repairJournal', () => {
  it('keeps every record but the damaged one, whichever that is, and the damaged file beside it', async () => {
    const records = wholeLife();
    for (let index = 0; index < records.length; index++) {
      const content = damaged(records, index);
      const disk = diskWith(content);
      await expect(openJournal(disk, folder)).rejects.toMatchObject({ code: 'journal-broken' });
      const journal = await openJournal(disk, folder, options);
      const lost = records[index];
      const kept = records.filter((_, other) => other !== index);
      // It follows from what comes behind it.
      if (lost?.k === 'reopen') kept.splice(index, 0, { ...lost, at: records[index + 1]!.at });
      const lastRow = Math.max(
        ...kept.map((record) => ('row' in record && typeof record.row === 'number' ? record.row : 0)),
      );
      expect(await recordsOf(journal)).toEqual([
        ...kept,
        { k: 'repaired', at: 77, missing: 1, heldUpToRow: lastRow + 1_000 },
      ]);
      expect(disk.peek(`${path}.broken-1`)).toEqual(content);
      expect(disk.paths()).toHaveLength(2);
    }
  });

  it('lets no row be bought whose purchase may be the lost record [fault 20]', async () => {
    const records = wholeLife();
    for (const [index, record] of records.entries()) {
      if (record.k !== 'intent') continue;
      const { recovered } = await openJournal(diskWith(damaged(records, index)), folder, options);
      const status = recovered.rows.get(record.id)?.status;
      const isSafe =
        status === 'completed' ||
        recovered.pending.has(record.id) ||
        recovered.mustHold(record.id, record.row);
      expect([record.id, status, isSafe]).toEqual([record.id, status, true]);
    }
  });

  it('goes on afterwards as after any start, and does nothing to a sound file', async () => {
    const disk = diskWith(damaged([start(), intent('a'), completed('a'), stop()], 1));
    const journal = await openJournal(disk, folder, options);
    expect(journal.recovered.mustHold('z', 900)).toBe(true);
    await append(journal, failed('z', 'unknown'));
    await journal.close();
    const again = await openJournal(disk, folder, options);
    expect(again.recovered).toMatchObject({ records: 5, repairs: 1, heldUpToRow: 1_000 });
    expect([again.recovered.mustHold('z', 900), again.recovered.mustHold('y', 900)]).toEqual([false, true]);
    expect(disk.paths()).toHaveLength(2);
  });

  it('counts what is missing by the sequence, and gives each damaged file a name of its own', async () => {
    const records = [start(), ...Array.from({ length: 40 }, (_, row) => intent(`row-${row}`, { row }))];
    const file = journalFile(records);
    const from = journalFile(records.slice(0, 5)).length;
    const disk = diskWith(
      Buffer.concat([file.subarray(0, from), file.subarray(journalFile(records.slice(0, 12)).length)]),
    );
    disk.plant(`${path}.broken-1`, 'an older one');
    const repaired = (await recordsOf(await openJournal(disk, folder, options))).at(-1);
    expect(repaired).toMatchObject({ k: 'repaired', missing: 7, heldUpToRow: 39 + 1_000 });
    expect(disk.paths()).toContain(`${path}.broken-2`);
    expect(disk.peek(`${path}.broken-1`)?.toString()).toBe('an older one');
  });

  it('takes whole records out of lines that are none', async () => {
    const records = [start(), intent('a'), accepted('a'), intent('b'), refused('b')];
    const file = journalFile(records);
    file[journalFile(records.slice(0, 3)).length - 1] = 0x20;
    const journal = await openJournal(diskWith(file), folder, options);
    const repaired = { k: 'repaired', at: 77, missing: 0, heldUpToRow: 0 };
    expect(await recordsOf(journal)).toEqual([...records, repaired]);
    // Nothing is lost, so nothing is held.
    expect([journal.recovered.mustHold('b', 1), journal.recovered.mustHold('z', 1)]).toEqual([false, false]);
  });

  it('leaves out what a torn end leaves, as always', async () => {
    const file = Buffer.concat([damaged([start(), intent('a'), stop()], 1), Buffer.from('{"n":4,"k":"in')]);
    expect((await recordsOf(await openJournal(diskWith(file), folder, options))).map(({ k }) => k)).toEqual([
      'start',
      'stop',
      'repaired',
    ]);
  });

  it('holds every row where rows were picked by name: they come in no order', async () => {
    const records = [start({ settings: { only: ['c', 'a'] } }), intent('a', { row: 3 }), stop()];
    const { recovered } = await openJournal(diskWith(damaged(records, 1)), folder, options);
    expect(recovered.mustHold('far', 1_000_000_000)).toBe(true);
  });

  it('gives up nothing when the power goes while it repairs', async () => {
    const records = wholeLife();
    const kept = records.filter((_, index) => index !== 5);
    const calls = await callsOfARepair(damaged(records, 5));
    for (let crashAt = 1; crashAt <= calls; crashAt++) {
      for (let seed = 0; seed < 6; seed++) {
        const disk = new ForgetfulDisk({ crashAt, random: seeded(seed) });
        disk.plant(path, damaged(records, 5));
        await openJournal(disk, folder, options).catch(() => undefined);
        const left = await recordsOf(await openJournal(disk.restart(), folder, options));
        expect(left.slice(0, kept.length)).toEqual(kept);
        expect(left.slice(kept.length).map(({ k }) => k)).toEqual(['repaired']);
      }
    }
  });
});

async function callsOfARepair(content: Uint8Array): Promise<number> {
  const disk = diskWith(content);
  await openJournal(disk, folder, options);
  return disk.calls;
}
