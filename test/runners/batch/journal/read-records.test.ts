import { describe, expect, it } from 'vitest';
import { readRecords, type RecordRange } from '../../../../runners/batch/journal/recovered-journal.js';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { intent, journalFile, start, stop } from '../../../support/sample-records.js';

const records = [start(), intent('a'), stop()];
const file = journalFile(records);

async function read(content: Uint8Array, range?: RecordRange): Promise<JournalRecord[]> {
  const disk = new ForgetfulDisk();
  disk.plant('/journal.jsonl', content);
  const seen: JournalRecord[] = [];
  try {
    for await (const record of readRecords(disk, '/journal.jsonl', range)) seen.push(record);
  } finally {
    expect(disk.counts.close).toBe(disk.counts.open);
  }
  return seen;
}

describe('readRecords', () => {
  it('reads all, or the part that is asked for', async () => {
    expect(await read(file)).toEqual(records);
    expect(await read(file, { after: 2 })).toEqual([stop()]);
    expect(await read(file, { after: 9 })).toEqual([]);
    expect(await read(file, { to: journalFile(records.slice(0, 2)).length })).toEqual(records.slice(0, 2));
  });

  it('passes over a line that is being written', async () => {
    expect(await read(file.subarray(0, -5))).toEqual(records.slice(0, 2));
  });

  it('refuses a line that has changed since it was opened', async () => {
    const changed = Buffer.from(file);
    changed[journalFile([start()]).length + 9]! ^= 1;
    await expect(read(changed)).rejects.toMatchObject({
      code: 'journal-broken',
      line: 2,
      offset: journalFile([start()]).length,
    });
  });

  it('closes the file when its reader stops early', async () => {
    const disk = new ForgetfulDisk();
    disk.plant('/journal.jsonl', file);
    for await (const record of readRecords(disk, '/journal.jsonl')) {
      expect(record.k).toBe('start');
      break;
    }
    expect(disk.counts.close).toBe(1);
  });
});
