import { copyFile, link, mkdtemp, rename, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAppendFile, type AppendFile } from '../../../../runners/batch/disk/append-file.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-name-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function opened(name: string): Promise<{ folder: string; path: string; file: AppendFile }> {
  const folder = join(root, name);
  await nodeDisk.mkdir(folder);
  const path = join(folder, 'file');
  const file = await openAppendFile(nodeDisk, path);
  await file.append(Buffer.from('one\n'));
  return { folder, path, file };
}

describe('AppendFile.isNamed', () => {
  it('holds as long as the path leads to the file, also by a hard link, a symlink and a folder that is one', async () => {
    const { folder, path, file } = await opened('sound');
    expect(await file.isNamed()).toBe(true);
    await link(path, `${path}.hard`);
    expect(await file.isNamed()).toBe(true);
    await file.close();
    await symlink(folder, `${folder}.link`);
    await symlink(path, join(folder, 'soft'));
    for (const other of [`${folder}.link/file`, join(folder, 'soft')]) {
      const again = await openAppendFile(nodeDisk, other);
      await again.append(Buffer.from('two\n'));
      expect(await again.isNamed()).toBe(true);
      await again.close();
    }
  });

  it.each<[string, (folder: string, path: string) => Promise<unknown>]>([
    ['removed', (_, path) => unlink(path)],
    ['moved', (_, path) => rename(path, `${path}.old`)],
    ['moved with its folder', (folder) => rename(folder, `${folder}.old`)],
    [
      'moved with its folder, and made anew',
      async (folder, path) => {
        await rename(folder, `${folder}.old`);
        await nodeDisk.mkdir(folder);
        await writeFile(path, 'one\n');
      },
    ],
    [
      'replaced by a copy of itself',
      async (_, path) => {
        await copyFile(path, `${path}.tmp`);
        await rename(`${path}.tmp`, path);
      },
    ],
    ['cut short', (_, path) => truncate(path, 1)],
  ])('is false once the file is %s, at the latest with the next bytes', async (name, change) => {
    const { folder, path, file } = await opened(`changed-${name.replaceAll(' ', '-')}`);
    await change(folder, path);
    const isIntact = await file.isIntact();
    await file.append(Buffer.from('two\n'));
    expect(isIntact && (await file.isNamed())).toBe(false);
    await file.close();
  });

  it('tells a file by its last bytes where the file system has no numbers', async () => {
    const disk = new ForgetfulDisk({ withoutIds: true });
    await disk.mkdir('/out');
    const file = await openAppendFile(disk, '/out/file');
    await file.append(Buffer.from('one\n'));
    expect(await file.isNamed()).toBe(true);
    disk.plant('/out/file', 'one\n');
    await file.append(Buffer.from('two\n'));
    expect(await file.isNamed()).toBe(false);
    disk.plant('/out/file', 'one\nTWO\n');
    expect(await file.isNamed()).toBe(false);
  });
});
