import { MillraceError } from '../../src/contract/millrace-error.js';
import { nodeDisk } from '../batch/disk/node-disk.js';
import type { OutcomeRecord } from '../batch/journal/record.js';
import type { Settlement } from '../batch/settle-row.js';
import { writeRunNote, type DatabaseOfRun } from './collector/run-note.js';
import { connectDatabase } from './connect-database.js';
import { DatabaseError, explainDatabase } from './database/database-error.js';
import { createRunStore } from './store/create-run-store.js';
import type { HeldSettlement, RunStore } from './store/run-store.js';

export interface RemoteSettlement {
  readonly out: string;
  readonly id: string;
  /** Never an undo: that exists only for runs without a database. */
  readonly settlement: Exclude<Settlement, { undo: true }>;
  /** The record that the journal is about to get, word for word, so that it is recognised when it is collected. */
  readonly ending: OutcomeRecord | undefined;
}

/**
 * Settles a held row in the database, before the run's journal gets the record. If this fails, nothing is settled; if the journal
 * cannot be written afterwards, the same settlement may be repeated, and the next start copies what the database has.
 *
 * @throws {DatabaseError}
 * @throws {MillraceError} `usage` when the row is not held in the database.
 */
export async function settleRemote(
  settled: RemoteSettlement,
  remote: DatabaseOfRun,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  try {
    const database = await connectDatabase(remote.choice, { env, name: 'millrace settle', max: 2 });
    try {
      await settleIn(createRunStore(database), settled, remote, database.shown);
    } finally {
      await database.close();
    }
  } catch (error) {
    if (error instanceof MillraceError && !(error instanceof DatabaseError)) throw error;
    const { code, message, cause } = explainDatabase(error, 'of the run');
    throw new DatabaseError(
      code,
      `${message} Nothing is settled: settle it again when the database is there.`,
      {
        cause,
      },
    );
  }
}

async function settleIn(
  store: RunStore,
  { out, id, settlement, ending }: RemoteSettlement,
  { note }: DatabaseOfRun,
  shown: string,
): Promise<void> {
  const run = await store.findRun(note.key);
  if (run === undefined) {
    // A finished run needs nothing but its folder.
    if (!note.isOpen) return;
    const message = `the run in ${out} lives in the database ${note.database}, and ${shown} does not know it`;
    throw new MillraceError('usage', message);
  }
  // Workers poll its job from now on.
  if ('jobId' in settlement && !note.isOpen) await writeRunNote(nodeDisk, out, { ...note, isOpen: true });
  if ((await store.settle(run, id, heldSettlement(settlement, ending))) === 'otherwise')
    throw new MillraceError(
      'usage',
      `row ${JSON.stringify(id)} is not held in the database: run again, and how it ended there is collected`,
    );
}

function heldSettlement(
  settlement: RemoteSettlement['settlement'],
  outcome: OutcomeRecord | undefined,
): HeldSettlement {
  if (!('paidUsd' in settlement)) return settlement;
  if (outcome === undefined) throw new Error('a row that is paid for has no ending');
  return { outcome };
}
