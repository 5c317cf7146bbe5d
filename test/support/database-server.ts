import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinEmbedded } from '../../runners/distributed/embedded/join-embedded.js';
import { notePath } from '../../runners/distributed/embedded/database-place.js';

/** Names the folder of the run's one PostgreSQL to its test files; the first that wants it starts it, this ends it. */
export default async function databaseServer(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-postgres-'));
  await chmod(folder, 0o755);
  process.env['MILLRACE_TEST_POSTGRES'] = folder;
  return async () => {
    const isStarted = (await stat(notePath(folder)).catch(() => undefined)) !== undefined;
    if (isStarted) await (await joinEmbedded(folder)).leave();
    await rm(folder, { recursive: true, force: true });
  };
}
