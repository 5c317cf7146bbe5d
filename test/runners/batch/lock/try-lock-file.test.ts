import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tryLockFile } from '../../../../runners/batch/lock/try-lock-file.js';

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
});
