import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Subject } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { runDistributed } from '../../../../runners/distributed/collector/run-distributed.js';
import { databasePlace } from '../../../../runners/distributed/embedded/database-place.js';
import { runWorker } from '../../../../runners/distributed/worker/run-worker.js';
import { startEmulator } from '../../../../runners/emulator/index.js';
import { finished, runFolder, type RunFolder } from '../../../support/run-folder.js';

let folder: RunFolder;
const elsewhere = new Set<string>();
beforeEach(() => {
  folder = runFolder();
});
afterEach(async () => {
  folder.remove();
  for (const path of elsewhere) await rm(path, { recursive: true, force: true });
});

async function notedFolder(): Promise<string> {
  const note = JSON.parse(await readFile(join(folder.out, 'database.json'), 'utf8')) as { folder: string };
  const path = resolve(folder.out, note.folder);
  if (!path.startsWith(folder.path)) elsewhere.add(path);
  return path;
}

it('is elsewhere where the database’s user may not enter the folder, and found again by the note', async () => {
  const out = await mkdtemp(join(tmpdir(), 'millrace-place-'));
  elsewhere.add(out);
  const place = await databasePlace(out, () => Promise.resolve(false));
  elsewhere.add(place.folder);
  expect(place.folder.startsWith(join(tmpdir(), 'millrace-database-'))).toBe(true);
  expect((await stat(place.folder)).mode & 0o777).toBe(0o711);
  expect(await databasePlace(out, () => Promise.resolve(true))).toEqual(place);
  await rm(place.folder, { recursive: true });
  await expect(databasePlace(out, () => Promise.resolve(true))).rejects.toThrow(
    `was in ${place.folder}, and is gone`,
  );
  const other = await databasePlace(out, () => Promise.resolve(false), { repair: true });
  elsewhere.add(other.folder);
  expect(other.folder).not.toBe(place.folder);
  expect(await databasePlace(out, () => Promise.resolve(true))).toEqual(other);
});

it('is not taken with another password where the note that has its password is lost', async () => {
  await mkdir(join(folder.out, 'database'), { recursive: true });
  await writeFile(join(folder.out, 'database', 'initialised'), '');
  const place = databasePlace(folder.out, () => Promise.resolve(true), { repair: true });
  await expect(place).rejects.toThrow(/database\.json has the password .* and is gone.*--repair/);
  await expect(stat(join(folder.out, 'database.json'))).rejects.toThrow('ENOENT');
});

it('keeps a run in a folder that only its owner may enter, from one start to the next, and goes on where it is gone', async () => {
  await chmod(folder.path, 0o700);
  const emulator = await startEmulator({ key: 'k' });
  const { apiKey, baseUrl } = emulator;
  const start = async (ids: readonly string[], repair = false) => {
    const connect = () => connectDatabase({ embeddedIn: folder.out }, { repair });
    const path = folder.manifest(ids.map((id) => ({ id, endpoint: 'echo', input: { id } })));
    const database = await connect();
    const stop = new Subject<void>();
    const work = runWorker({ database, apiKey, baseUrl, stop });
    const options = { manifest: { path }, out: folder.out, apiKey, baseUrl, repair };
    const run = runDistributed(options, { connect });
    const { exitCode, summary } = await finished(run);
    stop.next();
    await work;
    await database.close();
    return [exitCode, summary.rows.completed];
  };
  try {
    expect(await start(['a'])).toEqual([0, 1]);
    const first = await notedFolder();
    // As root the server runs as another user, who may not enter.
    expect(first.startsWith(folder.path)).toBe(process.getuid?.() !== 0);
    expect(await start(['a', 'b'])).toEqual([0, 2]);
    expect(await notedFolder()).toBe(first);
    expect(emulator.bill()).toHaveLength(2);
    await rm(first, { recursive: true });
    await expect(start(['a', 'b', 'c'])).rejects.toThrow('--repair goes on in a new one');
    expect(await start(['a', 'b', 'c'], true)).toEqual([0, 3]);
    expect(emulator.bill()).toHaveLength(3);
  } finally {
    await emulator.close();
  }
}, 60_000);
