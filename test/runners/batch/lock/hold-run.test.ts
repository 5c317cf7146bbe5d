import { describe, expect, it } from 'vitest';
import { holdRun, type HoldRunOptions } from '../../../../runners/batch/lock/hold-run.js';
import { LockError, type Host } from '../../../../runners/batch/lock/owner.js';
import { tryLockFile, type TryLock } from '../../../../runners/batch/lock/try-lock-file.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const folder = '/out/run';
const ownerPath = `${folder}/.owner.json`;
const here: Host = { name: 'mill', bootId: 'boot-1', machineId: 'machine-1', inContainer: false };

/** Locks of one machine: a path is held by one at a time. */
function machine(): { held: Set<string>; tryLock: TryLock } {
  const held = new Set<string>();
  const tryLock: TryLock = (path) => {
    if (held.has(path)) return Promise.resolve(undefined);
    held.add(path);
    return Promise.resolve({ release: () => Promise.resolve(void held.delete(path)) });
  };
  return { held, tryLock };
}

function setUp(more: Partial<HoldRunOptions> = {}): {
  disk: ForgetfulDisk;
  held: Set<string>;
  options: HoldRunOptions;
} {
  const disk = new ForgetfulDisk();
  const { held, tryLock } = machine();
  return {
    disk,
    held,
    options: { disk, tryLock, host: here, command: 'run edits.csv', now: () => 0, ...more },
  };
}

/** A process that died while it held the run: the kernel has freed its lock, its owner file stands. */
async function leaveBehind(disk: ForgetfulDisk, host: Host): Promise<void> {
  const hold = await holdRun(folder, {
    disk,
    tryLock: machine().tryLock,
    host,
    command: 'run edits.csv',
    now: () => 0,
  });
  expect(hold).toBeDefined();
}

async function refusal(options: HoldRunOptions): Promise<LockError> {
  const error: unknown = await holdRun(folder, options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LockError);
  return error as LockError;
}

describe('holdRun', () => {
  it('writes who it is, and takes that back', async () => {
    const { disk, held, options } = setUp();
    const hold = await holdRun(folder, options);
    expect(JSON.parse(disk.peek(ownerPath)!.toString())).toMatchObject({
      pid: process.pid,
      host: here,
      started: '1970-01-01T00:00:00.000Z',
      command: 'run edits.csv',
    });
    await hold.release();
    expect(disk.paths()).toEqual([]);
    expect(held.size).toBe(0);
  });

  it('refuses while another one holds it, also before that one has said its name', async () => {
    const { disk, options } = setUp();
    await holdRun(folder, options);
    const named = await refusal(options);
    expect(named).toMatchObject({ code: 'held', owner: { pid: process.pid } });
    expect(named.message).toContain(
      'on host mill, started 1970-01-01T00:00:00.000Z (run edits.csv). Wait for its end.',
    );
    // In another folder its rows would be bought again.
    expect(named.message).not.toContain('--out');
    await disk.unlink(ownerPath);
    expect((await refusal(options)).message).toContain('whose name is not known yet');
  });

  it('holds the journal as well, and is not kept from it by a file that cannot be opened', async () => {
    const { held, options } = setUp();
    held.add(`${folder}/journal.jsonl`);
    expect(await refusal(options)).toMatchObject({ code: 'held' });
    expect(held.has(`${folder}/.lock`)).toBe(false);
    const { tryLock = tryLockFile } = options;
    const blind: TryLock = (path) =>
      path.endsWith('journal.jsonl') ? Promise.reject(new LockError('lock-io', 'EISDIR')) : tryLock(path);
    await expect(holdRun(folder, { ...options, tryLock: blind })).resolves.toBeDefined();
  });

  it.each<[string, Host, Host]>([
    ['of this boot', here, here],
    ['from before a reboot', { ...here, bootId: 'boot-0' }, here],
    [
      'on a system that tells neither boot nor machine',
      { name: 'mac', inContainer: false },
      { name: 'mac', inContainer: false },
    ],
    ['in this very container', { ...here, inContainer: true }, { ...here, inContainer: true }],
  ])('takes over from a dead owner %s', async (_, dead, now) => {
    const { disk, options } = setUp({ host: now });
    await leaveBehind(disk, dead);
    await expect(holdRun(folder, options)).resolves.toBeDefined();
  });

  it.each<[string, Host, Host]>([
    ['another host', { ...here, name: 'weir' }, here],
    ['another machine of the same name', { ...here, bootId: 'boot-9', machineId: 'machine-9' }, here],
    [
      'a machine of the same name that has no other',
      { name: 'mill', bootId: 'boot-9', inContainer: false },
      here,
    ],
    ['a container', { ...here, name: '4f2a', inContainer: true }, here],
    [
      'another container of this machine',
      { ...here, name: '4f2a', inContainer: true },
      { ...here, name: '77bc', inContainer: true },
    ],
    [
      'a container of the same name after a boot, or elsewhere',
      { ...here, bootId: 'boot-0', inContainer: true },
      { ...here, inContainer: true },
    ],
  ])('never steals from %s, though the lock is free here', async (_, owner, now) => {
    const { disk, held, options } = setUp({ host: now });
    await leaveBehind(disk, owner);
    const error = await refusal(options);
    expect(error).toMatchObject({ code: 'held', owner: { host: owner } });
    expect(error.message).toContain(`host ${owner.name}`);
    expect(error.message).toContain(`remove ${ownerPath}`);
    expect(held.size).toBe(0);
    expect(disk.peek(ownerPath)).toBeDefined();
  });

  it('asks no clock: an owner from the future or from long ago is as dead [fault 19]', async () => {
    for (const now of [() => 8e15, () => -8e15]) {
      const { disk, options } = setUp({ now });
      await leaveBehind(disk, here);
      await expect(holdRun(folder, options)).resolves.toBeDefined();
    }
  });

  it('refuses where it cannot read who holds the run', async () => {
    for (const content of ['', 'not JSON', '{"pid":"x"}']) {
      const { disk, held, options } = setUp();
      disk.plant(ownerPath, content);
      expect((await refusal(options)).message).toContain(`${ownerPath} cannot be read`);
      expect(held.size).toBe(0);
    }
  });

  it('gives the lock back when its name cannot be written', async () => {
    for (const call of ['mkdir', 'open', 'write', 'sync', 'rename', 'syncFolder'] as const) {
      const disk = new ForgetfulDisk({ faults: [{ code: 'ENOSPC', call }] });
      const { tryLock, held } = machine();
      const error = await refusal({ disk, tryLock, host: here });
      expect(error.code).toBe('lock-io');
      expect(error.message).toContain(
        'no space is left on the disk (ENOSPC). Nothing was sent. Free some space',
      );
      expect(held.size).toBe(0);
    }
  });

  it('holds the path itself as well: a folder that was moved and made anew is held still [fault 19a]', async () => {
    const { disk, tryLock } = { ...setUp(), ...machine() };
    const options = { disk, tryLock, host: here, command: 'run edits.csv', stateFolders: ['/state'] };
    const hold = await holdRun(folder, options);
    // The folder is another one now: its own locks are free.
    const elsewhere: TryLock = (path) =>
      path.startsWith(folder) ? machine().tryLock(path) : options.tryLock(path);
    await disk.unlink(ownerPath);
    const error = await refusal({ ...options, tryLock: elsewhere });
    expect(error).toMatchObject({ code: 'held', owner: { pid: process.pid, command: 'run edits.csv' } });
    expect(error.message).toContain('moved, removed or replaced');
    await hold.release();
    await expect(holdRun(folder, { ...options, tryLock: elsewhere })).resolves.toBeDefined();
  });

  it('says what is not held where no state folder can be written, and tries the next one first', async () => {
    const { tryLock } = machine();
    const disk = new ForgetfulDisk({ faults: [{ code: 'EACCES', call: 'mkdir', path: '/no' }] });
    const options = { disk, tryLock, host: here };
    const second = await holdRun(folder, { ...options, stateFolders: ['/no', '/state'] });
    expect(second.warning).toBeUndefined();
    expect(disk.paths().some((path) => path.startsWith('/state/runs/'))).toBe(true);
    await second.release();
    const third = await holdRun(folder, { ...options, stateFolders: ['/no'] });
    expect(third.warning).toContain('XDG_STATE_HOME');
    await third.release();
  });
});
