import { join } from 'node:path';
import { tryLockFile } from '../../batch/lock/try-lock-file.js';
import { databaseName, notedPort } from './cluster.js';
import { readPlace } from './database-place.js';

/** The address of the embedded database of a run's folder, if its server runs. Starts nothing. */
export async function runningEmbedded(out: string): Promise<string | undefined> {
  const place = await readPlace(out);
  if (place === undefined) return undefined;
  const lock = await tryLockFile(join(place.folder, 'server.lock'));
  await lock?.release();
  const port = await notedPort(place.folder);
  if (lock !== undefined || port === undefined) return undefined;
  return `postgres://${databaseName}:${place.password}@127.0.0.1:${port}/${databaseName}?sslmode=disable`;
}
