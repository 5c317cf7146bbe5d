import { beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../../../../runners/batch/manifest/manifest-row.js';
import { CheckedRows } from '../../../../runners/batch/start/check/checked-rows.js';
import { keepManifest } from '../../../../runners/batch/start/check/keep-manifest.js';
import { SpooledChunks } from '../../../../runners/batch/start/check/spooled-chunks.js';
import { resolveOptions } from '../../../../runners/batch/start/resolve-options.js';
import { ForgetfulDisk, type DiskFault } from '../../../support/forgetful-disk.js';
import { jsonLines, readRows } from '../../../support/manifest-items.js';

const spool = '/job/out/.manifest.checked.rows.tmp';
const kept = '/job/out/.manifest.checked';
/** More than two chunks hold, and no multiple of one. */
const manyRows = 9_000;

const lines = jsonLines(
  ...Array.from({ length: manyRows }, (_, n) => ({ id: `r${n}`, endpoint: 'e', input: { n } })),
);
let rows: Row[];
beforeEach(async () => {
  rows = await readRows(lines, { format: 'jsonl' });
});

/** The hashes of so many rows: as bytes, and of their ids. */
async function hashesOf(checked: CheckedRows, count: number): Promise<{ bytes: Buffer; ids: number[][] }> {
  for (const row of rows.slice(0, count)) checked.add(row, []);
  const ids: number[][] = [];
  await checked.eachId((...id) => ids.push(id));
  const parts: Buffer[] = [];
  for await (const part of checked.bytes()) parts.push(Buffer.from(part));
  return { bytes: Buffer.concat(parts), ids };
}

describe('chunks of rows that wait in a file', () => {
  it.each([0, 1, 4_095, 4_096, 4_097, manyRows])('hold what memory holds of %i rows', async (count) => {
    const disk = new ForgetfulDisk({ shortTransfers: true });
    await disk.mkdir('/job/out');
    disk.plant(spool, 'what a start that was killed has left');
    const chunks = new SpooledChunks(disk, spool);
    const found = await hashesOf(new CheckedRows(chunks), count);
    await chunks.close();
    expect(found).toEqual(await hashesOf(new CheckedRows(), count));
    expect(found.ids).toHaveLength(count);
    if (count > 4_096) expect(disk.peek(spool)).toBeUndefined();
  });

  it.each<[string, DiskFault[], boolean]>([
    ['is kept with all of them', [], true],
    ['is not kept where the file cannot be made', [{ code: 'EACCES', call: 'open', path: spool }], false],
    ['is not kept where the disk is full', [{ code: 'ENOSPC', call: 'write', path: spool, nth: 2 }], false],
    ['is not kept where they cannot be read', [{ code: 'EIO', call: 'read', path: spool }], false],
  ])('a manifest %s', async (_, faults, isKept) => {
    const disk = new ForgetfulDisk({ faults });
    await disk.mkdir('/job/out');
    disk.plant('/job/m.jsonl', lines);
    const { settings, path } = resolveOptions({
      manifest: { path: '/job/m.jsonl' },
      out: '/job/out',
    }).manifest;
    await keepManifest(disk, { out: '/job/out', path, settings }).catch(() => undefined);
    expect(disk.peek(kept) !== undefined).toBe(isKept);
    expect(disk.peek(spool)).toBeUndefined();
  });
});
