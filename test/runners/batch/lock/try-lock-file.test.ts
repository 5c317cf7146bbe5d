import { fstatSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockFilesBy, tryLockFile } from '../../../../runners/batch/lock/try-lock-file.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-try-lock-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('tryLockFile', () => {
  it('gives a lock to one at a time, also within a process', async () => {
    const path = join(folder, 'lock');
    const first = await tryLockFile(path);
    expect(first).toBeDefined();
    expect(await tryLockFile(path)).toBeUndefined();
    await first?.release();
    const second = await tryLockFile(path);
    expect(second).toBeDefined();
    await second?.release();
  });

  it('leaves the content of the file alone', async () => {
    const path = join(folder, 'content');
    await writeFile(path, 'kept');
    await (await tryLockFile(path))?.release();
    expect(await readFile(path, 'utf8')).toBe('kept');
  });

  it('says which file it could not open', async () => {
    const path = join(folder, 'none', 'lock');
    await expect(tryLockFile(path)).rejects.toMatchObject({
      code: 'lock-io',
      message: expect.stringContaining(path),
    });
  });

  it('says in words why it could not, what to do, and that nothing was sent', async () => {
    const path = join(folder, 'content', 'lock');
    await writeFile(join(folder, 'content'), 'a file, not a folder');
    await expect(tryLockFile(path)).rejects.toThrow(
      `The lock file ${path} cannot be opened: a part of its path is a file, not a folder (ENOTDIR). ` +
        'Nothing was sent. Move that file away (for a new run, another --out does too) and run the same command again.',
    );
  });

  it('says that the locks do not load on this machine, and how to get them', async () => {
    const tryLock = lockFilesBy(() => Promise.reject(new Error('no prebuild')));
    const error: unknown = await tryLock(join(folder, 'lock')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'lock-unavailable',
      message: expect.stringContaining('npm i millrace'),
    });
    expect((error as Error).message).toContain(`${process.platform}-${process.arch}`);
  });

  it('says that a file system has none, and leaves no file open', async () => {
    let descriptor = -1;
    const tryLock = lockFilesBy(() =>
      Promise.resolve({
        tryLock: (fd) => {
          descriptor = fd;
          throw new Error('ENOLCK');
        },
      }),
    );
    const path = join(folder, 'lock');
    await expect(tryLock(path)).rejects.toMatchObject({
      code: 'lock-unavailable',
      message: expect.stringContaining(path),
    });
    expect(() => fstatSync(descriptor)).toThrow('EBADF');
  });
});
