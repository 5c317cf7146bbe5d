import { copyFileSync, cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Disk } from '../../../../runners/batch/disk/disk.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { refuseEarlier } from '../../../../runners/batch/lock/run-progress.js';
import { settleRow } from '../../../../runners/batch/settle-row.js';
import { holdRun } from '../../../../runners/batch/lock/hold-run.js';
import { startOtherServer } from '../../../support/other-server.js';
import { runFolder } from '../../../support/run-folder.js';

const rows = Array.from({ length: 8 }, (_, n) => ({
  id: `r${n}`,
  endpoint: 'image-edit',
  images: ['https://pictures.example.test/a.png'],
  prompt: `r${n}`,
}));

/** A run of four of eight rows, and a copy of its folder as it stood then. */
async function copied() {
  const service = await startOtherServer();
  const folder = runFolder();
  folder.manifest(rows);
  const copy = join(folder.path, 'copy');
  const start = (out: string, more: object = {}) =>
    folder.run(service, { out, download: false, concurrency: 1, ...more });
  const takeCopy = (): void => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(folder.out, copy, { recursive: true });
  };
  await start(folder.out, { limit: 4 });
  takeCopy();
  return {
    service,
    folder,
    copy,
    start,
    takeCopy,
    bought: () => [...service.executions.values()].reduce((sum, count) => sum + count, 0),
    async [Symbol.asyncDispose]() {
      await service.close();
      folder.remove();
    },
  };
}

describe('a copy of a folder', () => {
  it('is refused once the first one has gone on [fault 19a]', async () => {
    await using run = await copied();
    expect((await run.start(run.folder.out)).exitCode).toBe(0);
    const second = await run.start(run.copy);
    expect(second).toMatchObject({ exitCode: 74 });
    expect(second.reason).toContain(`Continue in ${run.folder.out}`);
    expect(run.bought()).toBe(8);
  });

  it('goes on in place of the first one, which is refused then [fault 19a]', async () => {
    await using run = await copied();
    expect((await run.start(run.copy)).exitCode).toBe(0);
    expect(await run.start(run.folder.out)).toMatchObject({ exitCode: 74 });
    expect(run.bought()).toBe(8);
  });

  it('is refused while the first one goes on [fault 19a]', async () => {
    await using run = await copied();
    let second: ReturnType<typeof run.start> | undefined;
    run.service.behave = () => {
      second ??= run.start(run.copy);
      return 'complete';
    };
    expect((await run.start(run.folder.out)).exitCode).toBe(0);
    expect((await second)?.exitCode).toBeOneOf([74, 75]);
    expect(run.bought()).toBe(8);
  });

  it('is refused where it was taken while the first one went on [fault 19a]', async () => {
    await using run = await copied();
    run.service.behave = (row) => {
      if (row === 'r6') run.takeCopy();
      return 'complete';
    };
    expect((await run.start(run.folder.out)).exitCode).toBe(0);
    rmSync(run.folder.out, { recursive: true });
    expect(await run.start(run.copy)).toMatchObject({ exitCode: 74 });
    expect(run.bought()).toBe(8);
  });

  it('is refused where it is put back in the place of the first one, and --repair holds what may have been bought [fault 19a]', async () => {
    await using run = await copied();
    expect((await run.start(run.folder.out)).exitCode).toBe(0);
    rmSync(run.folder.out, { recursive: true });
    renameSync(run.copy, run.folder.out);
    const { exitCode, reason } = await run.start(run.folder.out);
    expect(exitCode).toBe(74);
    expect(reason).toMatch(/is an earlier state of this run.*with --repair/);
    expect(run.bought()).toBe(8);
    const repaired = await run.start(run.folder.out, { repair: true });
    expect(repaired).toMatchObject({ exitCode: 6, summary: { failures: { unknown: 4 } } });
    expect((await run.start(run.folder.out)).exitCode).toBe(6);
    expect(run.bought()).toBe(8);
  });

  it('is refused where it was taken during a start that was killed later, and is put back in its place [fault 19a]', async () => {
    await using run = await copied();
    const [state, killed] = ['state', 'killed'].map((name) => join(run.folder.path, name)) as [
      string,
      string,
    ];
    const hold = (out: string) => holdRun(out, { stateFolders: [state] });
    run.service.behave = (row) => {
      if (row === 'r4') run.takeCopy();
      // What stands there is what a kill leaves.
      if (row === 'r7') cpSync(state, killed, { recursive: true });
      // A note is written half a second after a record.
      return row > 'r4' ? { hold: setTimeout(700) } : 'complete';
    };
    await run.start(run.folder.out, { hold });
    rmSync(state, { recursive: true });
    renameSync(killed, state);
    rmSync(run.folder.out, { recursive: true });
    renameSync(run.copy, run.folder.out);
    expect(await run.start(run.folder.out, { hold })).toMatchObject({ exitCode: 74 });
    expect(run.bought()).toBe(8);
  });

  it('is refused where it was written over the first one while that went on [fault 19a]', async () => {
    await using run = await copied();
    run.service.behave = (row) => {
      if (row === 'r6') cpSync(run.copy, run.folder.out, { recursive: true });
      return 'complete';
    };
    expect(await run.start(run.folder.out)).toMatchObject({ exitCode: 74 });
    run.service.behave = () => 'complete';
    const bought = run.bought();
    // The files do not say it where all of them were written over.
    for (const name of ['summary.json', 'results.jsonl', 'costs.csv'])
      copyFileSync(join(run.copy, name), join(run.folder.out, name));
    const { exitCode, reason } = await run.start(run.folder.out);
    expect(exitCode).toBe(74);
    expect(reason).toMatch(/is an earlier state of this run.*with --repair/);
    expect(run.bought()).toBe(bought);
  });

  it('is not settled, and no plan is made of it, where the first one has gone on [fault 19a]', async () => {
    await using run = await copied();
    await run.start(run.folder.out);
    const refused = expect.objectContaining({ code: 'copied' });
    await expect(settleRow(run.copy, 'r4', { notSent: true })).rejects.toEqual(refused);
    await expect(refuseEarlier(nodeDisk, run.copy)).rejects.toEqual(refused);
    await expect(refuseEarlier(nodeDisk, run.folder.out)).resolves.toBeUndefined();
  });

  it('goes on where the first one was moved [fault 19a]', async () => {
    await using run = await copied();
    rmSync(run.copy, { recursive: true });
    renameSync(run.folder.out, run.copy);
    expect((await run.start(run.copy)).exitCode).toBe(0);
    expect(existsSync(run.folder.out)).toBe(false);
    expect(run.bought()).toBe(8);
  });

  it('is refused as well where the first one has gone on with a state folder on a full disk, which it says', async () => {
    await using run = await copied();
    const state = join(run.folder.path, 'state');
    const hold = (disk: Disk) => (out: string) => holdRun(out, { disk, stateFolders: [state] });
    const onState = (disk: Disk) => ({ hold: hold(disk), limit: 1 });
    await run.start(run.folder.out, onState(nodeDisk));
    run.takeCopy();
    const { exitCode, events } = await run.start(run.folder.out, onState(fullAt(state)));
    expect(exitCode).toBe(0);
    expect(events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))).toEqual([
      expect.stringMatching(/^What the run in .* buys cannot be noted in .*state, which is full/),
    ]);
    const bought = run.bought();
    expect(await run.start(run.copy, onState(nodeDisk))).toMatchObject({ exitCode: 74 });
    expect(run.bought()).toBe(bought);
  });
});

/** The real disk, with no room for what stands in a folder. */
function fullAt(folder: string): Disk {
  const full = () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
  return {
    ...nodeDisk,
    open: async (path, flags, mode) => {
      const file = await nodeDisk.open(path, flags, mode);
      return path.startsWith(folder) ? { ...file, write: full } : file;
    },
  };
}
