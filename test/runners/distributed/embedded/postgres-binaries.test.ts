import { chmod, mkdir, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresBinaries } from '../../../../runners/distributed/embedded/postgres-binaries.js';

let folder: string;
let native: string;
const anybody = () => Promise.resolve(true);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-binaries-'));
  native = join(folder, 'package', 'native');
  for (const name of ['bin', 'lib']) await mkdir(join(native, name), { recursive: true });
  for (const name of ['initdb', 'postgres'])
    await writeFile(join(native, 'bin', name), name, { mode: 0o644 });
  await writeFile(join(native, 'lib', 'libpq.so.5.18'), 'libpq');
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(links));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

it('makes the links and modes that no install script has made', async () => {
  const { postgres } = await postgresBinaries(join(folder, 'spare'), anybody, () => native);
  expect(postgres).toBe(join(native, 'bin', 'postgres'));
  expect((await stat(postgres)).mode & 0o555).toBe(0o555);
  expect(await readlink(join(native, 'lib', 'libpq.so.5'))).toBe('libpq.so.5.18');
  await postgresBinaries(join(folder, 'spare'), anybody, () => native);
});

it('copies what the user of the database may not enter, once', async () => {
  const nobody = () => Promise.resolve(false);
  const spare = join(folder, 'spare');
  const { postgres, initdb } = await postgresBinaries(spare, nobody, () => native);
  expect([postgres, initdb]).toEqual(
    ['postgres', 'initdb'].map((name) => join(spare, 'native', 'bin', name)),
  );
  expect(await readFile(join(spare, 'native', 'lib', 'libpq.so.5'), 'utf8')).toBe('libpq');
  await chmod(join(spare, 'native'), 0o555);
  expect((await postgresBinaries(spare, nobody, () => native)).postgres).toBe(postgres);
});

it('says what to install where the package is missing', async () => {
  const missing = () => {
    throw new Error('Cannot find module');
  };
  await expect(postgresBinaries(folder, anybody, missing)).rejects.toThrow('Cannot find module');
});
