import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { replaceFile } from '../../../../runners/batch/disk/replace-file.js';
import { ForgetfulDisk, PowerCut } from '../../../support/forgetful-disk.js';
import { seeded } from '../../../support/seeded.js';

const path = '/run/summary.json';

function diskWith(options: ConstructorParameters<typeof ForgetfulDisk>[0] = {}): ForgetfulDisk {
  const disk = new ForgetfulDisk(options);
  disk.plant(path, 'old');
  return disk;
}

describe('replaceFile', () => {
  it.each([
    ['text', 'new'],
    ['bytes', Buffer.from('new')],
    ['pieces', ['n', Buffer.from('ew')]],
    ['pieces that come in time', chunksOf()],
    ['nothing', []],
  ])('takes %s', async (name, given) => {
    const disk = diskWith();
    await replaceFile(disk, path, given);
    expect(disk.peek(path)?.toString()).toBe(name === 'nothing' ? '' : 'new');
    expect(disk.paths()).toEqual([path]);
  });

  it('writes small pieces together, large ones as they are, and none after its maker has changed it', async () => {
    const disk = diskWith();
    const expected: Buffer[] = [];
    await replaceFile(
      disk,
      path,
      (function* () {
        const reused = Buffer.alloc(100_000);
        for (let i = 0; i < 2_000; i++) {
          const chunk = reused.subarray(0, i % 500 === 7 ? 100_000 : 40 + (i % 90)).fill(i % 251);
          expected.push(Buffer.from(chunk));
          yield chunk;
        }
      })(),
    );
    expect(disk.peek(path)?.equals(Buffer.concat(expected))).toBe(true);
    expect(disk.counts.write).toBeLessThan(16);
  });

  it('leaves the old file and no other when any call fails', async () => {
    const calls = await callsOf(diskWith());
    for (let nth = 1; nth <= calls; nth++) {
      for (const code of ['ENOSPC', 'EIO', 'EFBIG', 'EROFS', 'EMFILE'] as const) {
        const disk = diskWith({ faults: [{ code, nth }] });
        const failed = await replaceFile(disk, path, 'new').then(
          () => false,
          (error: unknown) => (error as NodeJS.ErrnoException).code === code,
        );
        const text = disk.peek(path)?.toString();
        // Once renamed it is the new one, though its name may not be durable yet: then the error is told all the same.
        expect(failed ? ['old', 'new'] : ['new']).toContain(text);
        expect(disk.paths()).toEqual([path]);
      }
    }
  });

  it('leaves the old or the new file whole after a power cut at any call, and the new one once it has resolved', async () => {
    const calls = await callsOf(diskWith());
    for (let crashAt = 1; crashAt <= calls + 1; crashAt++) {
      for (let seed = 0; seed < 8; seed++) {
        const disk = diskWith({ crashAt, random: seeded(seed) });
        const done = await replaceFile(disk, path, 'a new one').then(
          () => true,
          (error: unknown) => !(error instanceof PowerCut),
        );
        const text = disk.restart().peek(path)?.toString();
        expect(done ? ['a new one'] : ['old', 'a new one']).toContain(text);
      }
    }
  });

  it('takes the place of a temporary file that a crash has left', async () => {
    const disk = diskWith();
    disk.plant(`${path}.tmp`, 'half');
    await replaceFile(disk, path, 'new');
    expect(disk.paths()).toEqual([path]);
  });

  it('refuses a symbolic link in the place of the file or of its temporary one, and a folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-replace-'));
    const target = join(folder, 'target');
    await writeFile(target, 'precious');
    await symlink(target, join(folder, 'link'));
    await symlink(target, join(folder, 'other.tmp'));
    for (const name of ['link', 'other']) {
      await expect(replaceFile(nodeDisk, join(folder, name), 'x')).rejects.toMatchObject({
        code: 'not-a-file',
      });
    }
    await expect(replaceFile(nodeDisk, folder, 'x')).rejects.toThrow('is a folder');
    expect(await readFile(target, 'utf8')).toBe('precious');
    await replaceFile(nodeDisk, join(folder, 'plain'), 'x');
    expect((await readdir(folder)).sort()).toEqual(['link', 'other.tmp', 'plain', 'target']);
    await rm(folder, { recursive: true });
  });
});

async function* chunksOf(): AsyncGenerator<string> {
  yield 'ne';
  yield 'w';
}

async function callsOf(disk: ForgetfulDisk): Promise<number> {
  await replaceFile(disk, path, 'new');
  return disk.calls;
}
