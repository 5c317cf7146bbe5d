import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolders } from '../../../../runners/batch/disk/node-disk.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-folders-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('makeFolders', () => {
  it('makes what is missing, and takes what is there', async () => {
    await makeFolders(`${folder}/a/b/c`);
    await makeFolders(`${folder}/a/b/c`);
    await Promise.all(['x/1', 'x/2', 'x/3'].map((path) => makeFolders(`${folder}/${path}`)));
    for (const path of ['a/b/c', 'x/1', 'x/2', 'x/3']) {
      expect((await stat(`${folder}/${path}`)).isDirectory()).toBe(true);
    }
  });

  it('refuses where a file is in the way', async () => {
    await writeFile(`${folder}/file`, '');
    await expect(makeFolders(`${folder}/file`)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolders(`${folder}/file/x`)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.runIf(process.platform === 'linux')('gives up where a file system refuses with ENOENT', async () => {
    await expect(makeFolders('/proc/millrace/out')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
