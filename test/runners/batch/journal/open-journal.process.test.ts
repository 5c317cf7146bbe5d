import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { seeded } from '../../../support/seeded.js';
import { append, intent, journalFile, recordsOf, start } from '../../../support/sample-records.js';
import { asScript } from '../../../support/as-script.js';
import { skipTest } from '../../../support/skip-test.js';
import { mountSmallDisk } from '../../../support/mount-small-disk.js';

const appenderScript = asScript(new URL('appender.ts', import.meta.url));
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-journal-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a journal on a real disk', () => {
  it('keeps what append reported, whenever its process is killed with kill -9', async () => {
    const random = seeded(7);
    let durable = 0;
    for (let round = 0; round < 6; round++) {
      const printed = await killedAfter(5 + Math.floor(random() * 60));
      const opened = Number(/^opened (\d+)\n/.exec(printed)?.[1]);
      expect(opened).toBeGreaterThanOrEqual(durable);
      durable = Math.max(opened, ...printed.split('\n').slice(1, -1).map(Number));
    }
    const journal = await openJournal(nodeDisk, folder);
    const records = await recordsOf(journal);
    expect(records.length).toBeGreaterThanOrEqual(durable);
    expect(records.every((record, index) => 'id' in record && record.id === `row-${index + 1}`)).toBe(true);
    await journal.close();
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['removed', (path) => rm(path, { recursive: true })],
    ['renamed', (path) => rename(path, `${path}-else`)],
  ])('lets nothing be bought once its folder is %s [fault 18]', async (_how, take) => {
    const path = join(folder, 'out');
    const journal = await openJournal(nodeDisk, path);
    await append(journal, intent('a'));
    await take(path);
    await expect(append(journal, intent('b'))).rejects.toMatchObject({
      code: 'journal-io',
      message: expect.stringContaining('no longer the file that this run writes') as string,
    });
    await expect(append(journal, intent('c'))).rejects.toThrow('no longer the file');
    await journal.close();
  });

  it('resumes after a file system was full', async ({ skip }) => {
    const room = join(folder, 'tmpfs');
    await mkdir(room);
    const disk = mountSmallDisk(room);
    if ('skip' in disk) skipTest({ skip }, disk.skip);
    try {
      await fillAndResume(room);
    } finally {
      disk.unmount();
    }
  });
});

/** All that the appender said until it was killed, after so many lines. */
async function killedAfter(lines: number): Promise<string> {
  const child = spawn(process.execPath, [...appenderScript, folder]);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.split('\n').length > lines) child.kill('SIGKILL');
  });
  let complaint = '';
  child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  await once(child, 'close');
  expect(complaint).toBe('');
  return printed;
}

async function fillAndResume(room: string): Promise<void> {
  const out = join(room, 'edits.out');
  await writeFile(join(room, 'filler'), Buffer.alloc(900_000));
  const journal = await openJournal(nodeDisk, out);
  const durable = [
    start(),
    ...Array.from({ length: 600 }, (_, row) => intent(`row-${row}`, { row: row + 1 })),
  ];
  let count = 0;
  const error: unknown = await (async () => {
    for (const record of durable) await append(journal, record).then(() => count++);
  })().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'journal-io', errno: 'ENOSPC' });
  expect((error as Error).message).toContain('no space is left on the disk');
  await journal.close();
  expect(count).toBeGreaterThan(50);
  expect(await readFile(join(out, 'journal.jsonl'))).toEqual(journalFile(durable.slice(0, count)));

  // Still full: it opens, because nothing has to be written for that.
  const full = await openJournal(nodeDisk, out);
  expect(full.recovered.records).toBe(count);
  await full.close();

  await unlink(join(room, 'filler'));
  const resumed = await openJournal(nodeDisk, out);
  await append(resumed, durable[count]!);
  expect(await recordsOf(resumed)).toEqual(durable.slice(0, count + 1));
  await resumed.close();
}
