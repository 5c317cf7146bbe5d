import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { JournalError } from '../../../../runners/batch/journal/journal-error.js';
import { recover } from '../../../../runners/batch/journal/recover.js';
import type { RecoveredFile } from '../../../../runners/batch/journal/recover.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { accepted, intent, journalFile, start, wholeLife } from '../../../support/sample-records.js';

const path = '/run/journal.jsonl';
const records = wholeLife();
const file = journalFile(records);
/** Where each record ends, its newline included. */
const ends = records.map((_, index) => journalFile(records.slice(0, index + 1)).length);

async function recoveredFrom(content: Uint8Array): Promise<RecoveredFile> {
  const disk = new ForgetfulDisk();
  disk.plant(path, content);
  return recover(await disk.open(path, 'r'), path);
}

function refusal(content: Uint8Array): Promise<JournalError | undefined> {
  return recoveredFrom(content).then(
    () => undefined,
    (error: unknown) => error as JournalError,
  );
}

describe('recover, a sound file', () => {
  it('takes every record, and ends where the file ends', async () => {
    const found = await recoveredFrom(file);
    expect(found.recovery.facts.records).toBe(records.length);
    expect(found).toMatchObject({ goodEnd: file.length, newlineMissing: false, tornBytes: 0 });
  });

  it('takes an empty file for a new run', async () => {
    expect(await recoveredFrom(new Uint8Array())).toMatchObject({ goodEnd: 0, tornBytes: 0 });
  });
});

describe('recover, a file that is cut', () => {
  it('keeps every record that is whole, at whatever byte the file is cut [fault 20]', async () => {
    for (let cut = 0; cut <= file.length; cut++) {
      const whole = ends.filter((end) => end - 1 <= cut).length;
      const found = await recoveredFrom(file.subarray(0, cut));
      const goodEnd = Math.min(ends[whole - 1] ?? 0, cut);
      expect([cut, found.recovery.facts.records, found.goodEnd, found.tornBytes]).toEqual([
        cut,
        whole,
        goodEnd,
        cut - goodEnd,
      ]);
      expect(found.newlineMissing).toBe(ends.includes(cut + 1));
    }
  });

  it('does the same where zeros fill the file up behind the cut', async () => {
    for (let cut = 0; cut < file.length; cut++) {
      const zeros = Buffer.concat([file.subarray(0, cut), Buffer.alloc(file.length - cut + 3)]);
      const found = await recoveredFrom(zeros);
      expect([cut, found.recovery.facts.records]).toEqual([cut, ends.filter((end) => end - 1 <= cut).length]);
      expect(found.goodEnd + found.tornBytes).toBe(zeros.length);
    }
  });

  it('keeps a whole record with junk behind it and no newline', async () => {
    const found = await recoveredFrom(Buffer.concat([file.subarray(0, -1), Buffer.from('\0\0{"n":19,"k":')]));
    expect(found).toMatchObject({ goodEnd: file.length - 1, newlineMissing: true });
    expect(found.recovery.facts.records).toBe(records.length);
  });
});

describe('recover, a file that is damaged', () => {
  it('loses no record silently when any byte is changed [fault 20]', async () => {
    for (let at = 0; at < file.length; at++) {
      const line = ends.findIndex((end) => at < end);
      for (const flip of [1, file[at]! ^ 0x0a]) {
        if (flip === 0) continue;
        const flipped = Buffer.from(file);
        flipped[at]! ^= flip;
        const error = await refusal(flipped);
        if (at === file.length - 1) {
          expect([at, error]).toEqual([at, undefined]);
          expect((await recoveredFrom(flipped)).recovery.facts.records).toBe(records.length);
        } else {
          expect([at, flip, error?.code, error?.line]).toEqual([at, flip, 'journal-broken', line + 1]);
          expect(error?.offset).toBe(ends[line - 1] ?? 0);
        }
      }
    }
  });

  it('says which file, which line and which byte, and what can be done', async () => {
    const error = await refusal(
      Buffer.concat([file.subarray(0, ends[1]), Buffer.from('x\n'), file.subarray(ends[1])]),
    );
    expect(error?.message).toContain(`${path} is damaged: line 3, at byte ${ends[1]}`);
    expect(error?.message).toContain('--repair');
  });

  it.each([
    [
      'a record that is missing',
      journalFile(records).subarray(ends[0]),
      'is record 2, where record 1 was expected',
    ],
    [
      'a record that stands twice',
      Buffer.concat([file.subarray(0, ends[0]), file]),
      'is record 1, where record 2',
    ],
    [
      'a line with the right checksum that is not a record',
      Buffer.concat([file, checked('{"x":1')]),
      'but is not a record',
    ],
    ['an empty line', Buffer.concat([file, Buffer.from('\n')]), 'is not a record'],
    ['zeros with a newline', Buffer.concat([file, Buffer.alloc(9), Buffer.from('\n')]), 'is not a record'],
    [
      'zeros in the middle',
      Buffer.concat([file.subarray(0, ends[3]), Buffer.alloc(9), file.subarray(ends[3])]),
      'line 5',
    ],
    [
      'a record without newline behind zeros',
      Buffer.concat([Buffer.alloc(9), file.subarray(0, ends[0]! - 1)]),
      'is not a record',
    ],
    ['two records with a changed newline between', twoWithoutNewline(), 'is not a record'],
  ])('refuses %s', async (_, content, why) => {
    const error = await refusal(content);
    expect(error?.code).toBe('journal-broken');
    expect(error?.message).toContain(why);
  });
});

describe('recover, a file of a newer version', () => {
  it.each([
    ['with our checksum', journalFile([start({ format: 4 } as object)])],
    ['with another', Buffer.from('{"n":1,"k":"start","format":4,"sum":"x"}\n')],
  ])('is refused by name, %s', async (_, content) => {
    const error = await refusal(Buffer.from(content.toString().replace('"format":3', '"format":4')));
    expect(error?.code).toBe('journal-newer');
    expect(error?.message).toContain('format 4');
  });
});

function twoWithoutNewline(): Buffer {
  const two = journalFile([start(), intent('a'), accepted('a')]);
  two[two.indexOf(0x0a)] = 0x0b;
  return two.subarray(0, two.indexOf(0x0a));
}

function checked(body: string): Buffer {
  return Buffer.from(`${body},"c":"${crc32(body).toString(16).padStart(8, '0')}"}\n`);
}
