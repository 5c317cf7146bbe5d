import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-disk-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('nodeDisk.open', () => {
  it('makes a missing file for a+ and honours positions there', async () => {
    const path = join(folder, 'file');
    const file = await nodeDisk.open(path, 'a+');
    expect(await file.write(Buffer.from('abcdef'), 0)).toBe(6);
    expect(await file.write(Buffer.from('XY'), 2)).toBe(2);
    await file.sync();
    expect(await file.size()).toBe(6);
    await file.truncate(5);
    const into = Buffer.alloc(10);
    expect(await file.read(into, 1)).toBe(4);
    expect(await file.read(into, 5)).toBe(0);
    await file.close();
    expect(await readFile(path, 'utf8')).toBe('abXYe');
  });

  it.each(['r', 'r+'] as const)('refuses a missing file for %s', async (flags) => {
    await expect(nodeDisk.open(join(folder, 'none'), flags)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a file that is there for wx, and does not follow a link to a missing one', async () => {
    await writeFile(join(folder, 'there'), '');
    await symlink(join(folder, 'target'), join(folder, 'link'));
    await expect(nodeDisk.open(join(folder, 'there'), 'wx')).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(nodeDisk.open(join(folder, 'link'), 'wx')).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('cannot write what was opened to read', async () => {
    await writeFile(join(folder, 'there'), 'x');
    const file = await nodeDisk.open(join(folder, 'there'), 'r');
    await expect(file.write(Buffer.from('y'), 0)).rejects.toMatchObject({ code: 'EBADF' });
    await file.close();
  });
});

describe('nodeDisk, names', () => {
  it('names the file of a read that fails, as Node.js does not', async () => {
    const file = await nodeDisk.open(folder, 'r');
    await expect(file.read(Buffer.alloc(1), 0)).rejects.toMatchObject({
      code: 'EISDIR',
      message: expect.stringContaining(folder) as string,
      path: folder,
    });
    await file.close();
  });

  it('tells what a path is without following links', async () => {
    await writeFile(join(folder, 'file'), 'four');
    await symlink(join(folder, 'file'), join(folder, 'link'));
    expect(await nodeDisk.stat(join(folder, 'file'))).toMatchObject({ size: 4, kind: 'file' });
    expect(await nodeDisk.stat(folder)).toMatchObject({ kind: 'folder' });
    expect(await nodeDisk.stat(join(folder, 'link'))).toMatchObject({ kind: 'link' });
    expect(await nodeDisk.stat('/dev/null')).toMatchObject({ kind: 'other' });
    expect(await nodeDisk.stat(join(folder, 'none'))).toBeUndefined();
    await expect(nodeDisk.stat(join(folder, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('makes folders with their parents, and again', async () => {
    const deep = join(folder, 'a', 'b');
    await nodeDisk.mkdir(deep);
    await nodeDisk.mkdir(deep);
    expect(await nodeDisk.list(join(folder, 'a'))).toEqual(['b']);
    expect(await nodeDisk.list(join(folder, 'none'))).toEqual([]);
  });

  it('renames over a file, removes, and syncs the folder', async () => {
    await writeFile(join(folder, 'old'), 'old');
    await writeFile(join(folder, 'new'), 'new');
    await nodeDisk.rename(join(folder, 'new'), join(folder, 'old'));
    await nodeDisk.syncFolder(folder);
    expect(await readFile(join(folder, 'old'), 'utf8')).toBe('new');
    await nodeDisk.unlink(join(folder, 'old'));
    expect(await nodeDisk.list(folder)).toEqual([]);
    await expect(nodeDisk.syncFolder(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
