import { databaseAddress } from './database/database-address.js';
import { isBroken } from './database/database-error.js';
import { openPool } from './database/open-pool.js';
import type { DatabaseOfRun } from './collector/run-note.js';
import { runningEmbedded } from './embedded/join-embedded.js';
import { readState, type RunState } from './table/run-state.js';
import { findRun } from './table/runs.js';
import { describeSilence, readWorkers, type WorkerState } from './table/worker-record.js';

/** The state of a run in its database, and its workers. */
export type RemoteStatus =
  | {
      readonly database: string;
      readonly state: RunState;
      /** How many records of workers the folder does not have yet: what it says lacks them. */
      readonly uncopied: number;
      readonly workers: readonly (WorkerState & {
        /** How long it has been silent, and when other workers get its rows. */
        readonly silence?: string;
      })[];
    }
  /** The state is not known, for this reason. */
  | { readonly database: string; readonly problem: string };

/** Reads the state of a run. It changes nothing, does not start an embedded database, and never throws. */
export async function remoteStatus(
  { note, choice }: DatabaseOfRun,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RemoteStatus> {
  const { key } = note;
  let { database } = note;
  try {
    const url = 'url' in choice ? choice.url : await runningEmbedded(choice.embeddedIn);
    if (url === undefined) return { database, problem: 'it does not run: nobody works on the run' };
    const address = databaseAddress(url, 'url' in choice ? env : {});
    if ('url' in choice) database = address.shown;
    const { pool, close } = await openPool(address, { max: 1, name: 'millrace status' });
    try {
      const run = await findRun({ pool }, key);
      if (run === undefined) return { database, problem: 'it does not know the run' };
      const workers = (await readWorkers(pool)).map((worker) => {
        const silence = describeSilence(worker);
        return { ...worker, ...(silence !== undefined && { silence }) };
      });
      const state = await readState({ pool }, run);
      return { database, state, uncopied: Math.max(state.seq - note.collected, 0), workers };
    } finally {
      await close();
    }
  } catch (error) {
    const { message } = error as Error;
    return { database, problem: isBroken(error) ? `it does not know the run: ${message}` : message };
  }
}
