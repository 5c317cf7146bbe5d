import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isGone, startTicksOf, thisHost, whoHolds } from '../../../../runners/batch/lock/owner.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { skipTest } from '../../../support/skip-test.js';
import { until } from '../../../support/until.js';

const folder = '/out/run';

function diskWith(owner: object | string): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  disk.plant(`${folder}/.owner.json`, typeof owner === 'string' ? owner : JSON.stringify(owner));
  return disk;
}

const owner = {
  pid: process.pid,
  host: thisHost(),
  started: '2026-11-21T00:00:00.000Z',
  command: 'run edits.csv',
};

describe('whoHolds', () => {
  it('names a process of this host that lives', async () => {
    expect(await whoHolds(diskWith(owner), folder)).toMatchObject({
      pid: process.pid,
      command: 'run edits.csv',
    });
  });

  it('names nobody where the process is gone, or there is none', async () => {
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    expect(await whoHolds(diskWith({ ...owner, pid: gone }), folder)).toBeUndefined();
    expect(await whoHolds(diskWith('not JSON'), folder)).toBeUndefined();
    expect(await whoHolds(new ForgetfulDisk(), folder)).toBeUndefined();
  });

  it('names nobody where another process has got the number since', async (context) => {
    if (process.platform !== 'linux') skipTest(context, 'when a process began is known on Linux alone');
    const startTicks = startTicksOf(process.pid) ?? NaN;
    expect(await whoHolds(diskWith({ ...owner, startTicks }), folder)).toMatchObject({ pid: process.pid });
    expect(await whoHolds(diskWith({ ...owner, startTicks: startTicks - 1 }), folder)).toBeUndefined();
    const host = { name: 'weir', machineId: 'weir-1', bootId: 'of yesterday', inContainer: false };
    expect(isGone({ ...owner, host }, { ...host, bootId: 'of today' })).toBe(true);
  });

  it('names a process of another host, of which it cannot know', async () => {
    const elsewhere = { ...owner, pid: 1, host: { name: 'weir', inContainer: false } };
    expect(await whoHolds(diskWith(elsewhere), folder)).toMatchObject({ host: { name: 'weir' } });
  });

  it('names nobody where the process has ended and its parent has not asked for it', async (context) => {
    if (process.platform !== 'linux')
      skipTest(context, 'processes that nobody asks for are seen on Linux alone');
    // It ends once its parent is a program that does not ask for it; a shell would.
    const child = 'while read -r name < /proc/$PPID/comm && [ "$name" != sleep ]; do :; done';
    const script = 'sh -c "$0" & echo $!; exec sleep 60';
    const parent = spawn('sh', ['-c', script, child], { stdio: 'pipe' });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      await until(() => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
      expect(await whoHolds(diskWith({ ...owner, pid }), folder)).toBeUndefined();
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
