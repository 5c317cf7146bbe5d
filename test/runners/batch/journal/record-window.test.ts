import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordWindow } from '../../../../runners/batch/journal/row-reader.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { seeded } from '../../../support/seeded.js';
import { intent, journalFile } from '../../../support/sample-records.js';

const records = Array.from({ length: 30 }, (_, row) =>
  intent(`row-${row}`, { columns: { text: 'x'.repeat((row * 131) % 700) } }),
);
const file = journalFile(records);
const starts = records.map((_, index) => journalFile(records.slice(0, index)).length);

async function windowOn(
  content: Uint8Array,
  bytes: number,
  shortTransfers = false,
): Promise<{ disk: ForgetfulDisk; window: RecordWindow }> {
  const disk = new ForgetfulDisk({ shortTransfers, random: seeded(1) });
  disk.plant('/journal.jsonl', content);
  return { disk, window: new RecordWindow(await disk.open('/journal.jsonl', 'r'), file.length, bytes) };
}

describe('RecordWindow', () => {
  it('finds any record in any order, whatever its size and that of the window', async () => {
    const order = fc.array(fc.nat(records.length - 1), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        order,
        fc.integer({ min: 1, max: 5_000 }),
        fc.boolean(),
        async (given, bytes, shortTransfers) => {
          const { window } = await windowOn(file, bytes, shortTransfers);
          for (const index of given) expect(await window.recordAt(starts[index]!)).toEqual(records[index]);
        },
      ),
    );
  });

  it('reads records that follow each other together', async () => {
    const { disk, window } = await windowOn(file, 1 << 20);
    for (const start of starts) await window.recordAt(start);
    expect(disk.counts.read).toBe(1);
  });

  it('takes the last record without its newline, and nothing of what is torn behind it', async () => {
    const torn = Buffer.concat([file.subarray(0, -1), Buffer.from('{"n":31,')]);
    const disk = new ForgetfulDisk();
    disk.plant('/journal.jsonl', torn);
    for (const bytes of [8, 300, 1 << 16]) {
      const window = new RecordWindow(await disk.open('/journal.jsonl', 'r'), file.length - 1, bytes);
      expect(await window.recordAt(starts.at(-1)!)).toEqual(records.at(-1));
    }
  });

  it('does not wait for bytes that are gone', async () => {
    const { window } = await windowOn(file.subarray(0, 100), 1 << 16);
    await expect(window.recordAt(0)).rejects.toMatchObject({ code: 'EIO' });
  });
});
