import { lastValueFrom } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import { dropHanded, readHanded } from '../callbacks/handed-callbacks.js';
import { claimJob } from '../table/claim-jobs.js';
import type { RemoteRun } from './remote-run.js';

/**
 * Takes in the callbacks that no worker has taken in, once no worker has a row: one that names the job of a held row has the next start
 * ask for it. It stays in the database, as the answer to that. All others are dropped where no row is left that they could be about.
 */
export async function nameCalled(
  { callbacks, stops, toDo }: Run,
  { ask, database, run }: RemoteRun,
): Promise<void> {
  if (callbacks === undefined) return;
  const { pool } = database;
  callbacks.useJobIds({ claim: (job) => ask(() => claimJob(pool, run, job)) });
  const handed = await ask(() => readHanded(pool, run));
  for (const callback of handed) await lastValueFrom(callbacks.orphan(callback), { defaultValue: undefined });
  if (stops.isStopping || toDo.rows > 0) return;
  const over = handed.filter(({ row }) => !callbacks.named.has(row)).map(({ digest }) => digest);
  await ask(() => dropHanded(pool, run, over));
}
