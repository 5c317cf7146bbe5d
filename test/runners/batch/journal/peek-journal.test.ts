import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { peekJournal } from '../../../../runners/batch/journal/recovered-journal.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import {
  append,
  intent,
  journalFile,
  recordsOf,
  start,
  stop,
  wholeLife,
} from '../../../support/sample-records.js';

const folder = '/out/run';
const path = `${folder}/journal.jsonl`;

describe('peekJournal', () => {
  it('reads what is there while another process writes, and changes nothing', async () => {
    const disk = new ForgetfulDisk();
    const writer = await openJournal(disk, folder);
    await append(writer, start());
    await append(writer, intent('a'));
    const peeked = await peekJournal(disk, folder);
    await append(writer, stop());
    expect(peeked?.recovered.pending.get('a')?.status).toBe('sent');
    expect(await recordsOf(peeked!)).toEqual([start(), intent('a')]);
    expect((await recordsOf((await peekJournal(disk, folder))!)).at(-1)).toEqual(stop());
  });

  it('passes over a record that is being written', async () => {
    const whole = journalFile(wholeLife());
    for (const cut of [1, 2, 30, 100]) {
      const disk = new ForgetfulDisk();
      disk.plant(path, whole.subarray(0, -cut));
      const peeked = (await peekJournal(disk, folder))!;
      // Only its newline is missing: then it is whole.
      const count = cut === 1 ? wholeLife().length : wholeLife().length - 1;
      expect(await recordsOf(peeked)).toEqual(wholeLife().slice(0, count));
      expect(disk.peek(path)).toHaveLength(whole.length - cut);
      expect([disk.counts.write, disk.counts.truncate]).toEqual([undefined, undefined]);
    }
  });

  it('finds rows by their state and by their id, and leaves no file open', async () => {
    const disk = new ForgetfulDisk();
    disk.plant(path, journalFile(wholeLife()));
    const peeked = (await peekJournal(disk, folder))!;
    expect(await peeked.find('b')).toMatchObject({ status: 'sent', attempts: 2 });
    for await (const { id } of peeked.rowsIn(['completed', 'replied'])) {
      expect(id).toBe('a');
      break;
    }
    expect(disk.counts.close).toBe(disk.counts.open);
  });

  it('finds many rows in the order of their ids, and opens the file once for them', async () => {
    const disk = new ForgetfulDisk();
    disk.plant(path, journalFile(wholeLife()));
    const peeked = (await peekJournal(disk, folder))!;
    const one = await Promise.all(['b', 'nobody', 'a'].map((id) => peeked.find(id)));
    const before = disk.counts.open ?? 0;
    const found = [];
    for await (const row of peeked.findAll(['b', 'nobody', 'a'])) found.push(row);
    expect(found).toEqual(one);
    expect(found[1]).toBeUndefined();
    expect(disk.counts.open).toBe(before + 1);
    expect(disk.counts.close).toBe(disk.counts.open);
  });

  it('tells that there is none', async () => {
    expect(await peekJournal(new ForgetfulDisk(), folder)).toBeUndefined();
  });

  it('tells of a disk that fails', async () => {
    const disk = new ForgetfulDisk({ faults: [{ code: 'EACCES', call: 'open' }] });
    disk.plant(path, journalFile([start()]));
    await expect(peekJournal(disk, folder)).rejects.toMatchObject({ code: 'journal-io', errno: 'EACCES' });
  });
});
