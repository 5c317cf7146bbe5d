import { describe, expect, it } from 'vitest';
import { openLog } from '../../../../runners/batch/log/open-log.js';
import { countingFiles } from '../../../support/counting-files.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const secret = 'canary-key-5f1e0c7a9b';
const now = (): number => Date.UTC(2027, 0, 1);

async function logTo(disk: ForgetfulDisk) {
  await disk.mkdir('/out');
  return openLog({ disk, folder: '/out', now, secrets: [secret] });
}

describe('openLog', () => {
  it('writes JSON lines with level, time, the row and what happened', async () => {
    const disk = new ForgetfulDisk();
    const log = await logTo(disk);
    log.write('info', { id: 'a', row: 1 }, 'row ended');
    log.write('debug', {}, 'too fine');
    await log.close();
    const lines = disk.peek('/out/run.log')!.toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { level: 'info', time: '2027-01-01T00:00:00.000Z', id: 'a', row: 1, msg: 'row ended' },
    ]);
  });

  it('masks the key wherever it stands', async () => {
    const disk = new ForgetfulDisk();
    const log = await logTo(disk);
    log.write('warn', { id: secret, deep: { text: `Bearer ${secret}` } }, `said ${secret}`);
    await log.close();
    expect(disk.peek('/out/run.log')!.includes(secret)).toBe(false);
    expect(disk.peek('/out/run.log')!.toString()).toContain('[redacted]');
  });

  it('goes on behind what an earlier start wrote', async () => {
    const disk = new ForgetfulDisk();
    disk.plant('/out/run.log', '{"msg":"before"}\n');
    const log = await logTo(disk);
    log.write('info', {}, 'after');
    await log.close();
    expect(disk.peek('/out/run.log')!.toString()).toMatch(/^\{"msg":"before"\}\n.*"after"\}\n$/);
  });

  it.each(['open', 'write'] as const)(
    'is given up when the disk fails to %s: nothing depends on it',
    async (call) => {
      const disk = new ForgetfulDisk({ faults: [{ code: 'ENOSPC', call }] });
      const log = await logTo(disk);
      log.write('info', {}, 'one');
      log.write('info', {}, 'two');
      await expect(log.close()).resolves.toBeUndefined();
    },
  );

  it('closes the file that the disk has no more room for', async () => {
    const { disk, open } = countingFiles(new ForgetfulDisk({ faults: [{ code: 'ENOSPC', call: 'write' }] }));
    await disk.mkdir('/out');
    const log = await openLog({ disk, folder: '/out', now, secrets: [] });
    log.write('info', {}, 'one');
    await log.close();
    expect(open()).toBe(0);
  });
});
