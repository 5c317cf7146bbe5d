import { nodeDisk } from '../batch/disk/node-disk.js';
import { readRunNote, type RunNote } from './collector/run-note.js';
import type { DatabaseChoice } from './connect-database.js';

/** The database that a run's folder notes. The password is in no note: it comes from PGPASSWORD or ~/.pgpass. */
export interface DatabaseOfRun {
  readonly note: RunNote;
  readonly choice: DatabaseChoice;
}

/**
 * Where a run lives beside its folder; `undefined` where it has nothing to do with a database.
 *
 * @param given Its address, where the noted one will not do.
 */
export async function databaseOfRun(out: string, given?: string): Promise<DatabaseOfRun | undefined> {
  const note = await readRunNote(nodeDisk, out);
  if (note?.isBegun !== true) return undefined;
  if (given !== undefined && given !== 'embedded') return { note, choice: { url: given } };
  if (given === 'embedded' || note.isEmbedded) return { note, choice: { embeddedIn: out } };
  return { note, choice: { url: note.database.replace(':***@', '@') } };
}
