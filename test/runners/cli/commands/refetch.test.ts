import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord } from '../../../../runners/batch/journal/line/record-line.js';
import { drawPicture } from '../../../support/draw-picture.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

/** Lets a run have been made so long ago: its journal says when, all else follows from it. */
async function putBack(out: string, ms: number): Promise<void> {
  const journal = join(out, 'journal.jsonl');
  const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n');
  const earlier = lines.map((line) => {
    const { n, record } = decodeRecord(Buffer.from(line));
    const submittedAt = 'submittedAt' in record ? { submittedAt: Number(record.submittedAt) - ms } : {};
    return encodeRecord(n, { ...record, at: record.at - ms, ...submittedAt });
  });
  await writeFile(journal, Buffer.concat(earlier));
  for (const name of ['summary.json', 'results.jsonl', 'results.csv', 'costs.csv']) await rm(join(out, name));
}

describe('millrace refetch', () => {
  let work: Rehearsal;
  let picturesAreGone: boolean;
  const images = () => readdir(join(work.folder, 'edits.out', 'images'));
  beforeEach(async () => {
    picturesAreGone = false;
    work = await openRehearsal({
      faultOf: ({ operation }) => (operation === 'picture' && picturesAreGone ? '404' : ''),
    });
    await writeFile(join(work.folder, 'mug.png'), await drawPicture({ subject: 0, width: 64, height: 64 }));
    const url = work.emulator.fileUrl('mug.png') as string;
    await work.write('edits.csv', ['id,images,prompt', `a,${url},grayscale`, `b,${url},flip`]);
  });
  afterEach(() => work.close());
  const run = (...args: string[]) => work.call('run', 'edits.csv', '--endpoint', 'image-edit', ...args);

  it('fetches what is missing, needs no key, and buys nothing', async () => {
    expect((await run()).code).toBe(0);
    await rm(join(work.folder, 'edits.out', 'images', 'a.png'));
    const { code, stdout, stderr } = await work.call('refetch', 'edits.out');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '1 picture saved, none is missing.\n',
      stderr: '',
    });
    expect(await images()).toEqual(['a.png', 'b.png']);
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it('fetches what a run left at its URLs', async () => {
    expect((await run('--no-download')).code).toBe(0);
    expect((await work.call('refetch', 'edits.out', '--quiet')).stdout).toBe('');
    expect(await images()).toEqual(['a.png', 'b.png']);
  });

  it('is asked for by a start that finds pictures whose URLs die within two days [fault 32]', async () => {
    expect((await run('--no-download')).code).toBe(0);
    await putBack(join(work.folder, 'edits.out'), 6 * 86_400_000);
    const { code, stderr } = await run('--no-download', '--quiet');
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: 2 pictures are paid for and not saved yet; the first URL expires at .*, in 23 h:/m,
    );
    expect(stderr).toContain('refetch');
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it('is too late for pictures older than seven days, and a start says so', async () => {
    expect((await run('--no-download')).code).toBe(0);
    await putBack(join(work.folder, 'edits.out'), 8 * 86_400_000);
    expect((await run('--no-download', '--quiet')).stderr).toContain('older than 7 days');
  });

  it('names twenty of many pictures that cannot be had, and counts the others', async () => {
    const url = work.emulator.fileUrl('mug.png') as string;
    const rows = Array.from({ length: 23 }, (_, place) => `r${place},${url},flip`);
    await work.write('edits.csv', ['id,images,prompt', ...rows]);
    expect((await run('--no-download')).code).toBe(0);
    picturesAreGone = true;
    const { code, stdout, stderr } = await work.call('refetch', 'edits.out', '--retries', '0');
    const lines = stderr.trimEnd().split('\n');
    expect([code, lines.length, lines.at(-1)]).toEqual([1, 21, '… and 3 more warnings like these']);
    expect(stdout).toContain('23 could not be downloaded');
  });

  it('names what cannot be had, and exits 1', async () => {
    await run('--no-download');
    picturesAreGone = true;
    const { code, stdout, stderr } = await work.call('refetch', 'edits.out', '--retries', '0', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ rows: { completed: 2 } });
    expect(stderr).toMatch(/warning: Row "a": .*404/);
    expect(stderr).toMatch(/warning: Row "b": .*404/);
  });
});
