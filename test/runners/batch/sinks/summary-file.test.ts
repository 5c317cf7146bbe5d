import { describe, expect, it } from 'vitest';
import { readSummary, writeSummary, type Summary } from '../../../../runners/batch/sinks/summary-file.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const summary: Summary = {
  rows: { total: 1, completed: 1, failed: 0, toDo: 0 },
  failures: {},
  cost: { reported: 0, estimated: 0, unknown: 0, possiblyDouble: 0, unpriced: 0, drift: 0, byResolution: {} },
  times: { firstStartAt: 'a', startedAt: 'b' },
  statusCalls: 0,
  starts: 1,
  thisStart: { ended: 1, completed: 1, failed: 0, unknown: 0 },
  prices: {},
  covers: { records: 3, files: { 'results.jsonl': { bytes: 5, crc: 7 } } },
};

async function folder(content?: string): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await disk.mkdir('/out');
  if (content !== undefined) disk.plant('/out/summary.json', content);
  return disk;
}

describe('summary.json', () => {
  it('is read as it was written', async () => {
    const disk = await folder();
    await writeSummary(disk, '/out', summary);
    expect(await readSummary(disk, '/out')).toEqual(summary);
    expect(disk.paths()).toEqual(['/out/summary.json']);
  });

  it.each([
    ['nothing', undefined],
    ['no JSON', '{"rows":'],
    ['another object', '{}'],
    ['a part that is none', JSON.stringify({ ...summary, rows: 1 })],
    ['a part that is missing', JSON.stringify({ ...summary, cost: undefined })],
    ['a mark that is none', JSON.stringify({ ...summary, covers: { records: 'all' } })],
    [
      'a mark of a file that is none',
      JSON.stringify({ ...summary, covers: { records: 1, files: { a: { bytes: -1, crc: 0 } } } }),
    ],
  ])('is none where there is %s', async (_what, content) => {
    expect(await readSummary(await folder(content), '/out')).toBeUndefined();
  });

  it('is the old one as long as the new one is not whole', async () => {
    const disk = new ForgetfulDisk({ faults: [{ code: 'ENOSPC', call: 'write', nth: 1, lasting: true }] });
    await disk.mkdir('/out');
    disk.plant('/out/summary.json', JSON.stringify(summary));
    await expect(writeSummary(disk, '/out', { ...summary, starts: 2 })).rejects.toMatchObject({
      code: 'disk',
    });
    expect((await readSummary(disk, '/out'))?.starts).toBe(1);
  });
});
