import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { readFile } from '../../batch/disk/read-file.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import type { DatabaseChoice } from '../connect-database.js';
import { DatabaseError } from '../database/database-error.js';

const noteSchema = z.object({
  /** The run's name in the database. */
  key: z.string(),
  /** Which database, without its password. */
  database: z.string(),
  /** The database lies in the folder, or belongs to it. */
  isEmbedded: z.boolean(),
  /** The database knows the run. */
  isBegun: z.boolean(),
  /** The database may have rows that are on their way, or records that the journal does not have. */
  isOpen: z.boolean(),
  /** All records of the database up to this one are in the journal … */
  collected: z.number(),
  /** … among so many of its first ones. @defaultValue 0 */
  among: z.number().default(0),
});

/** The note in a run's folder about its run in a database. */
export type RunNote = Readonly<z.infer<typeof noteSchema>>;

export function runNotePath(out: string): string {
  return `${out}/distributed.json`;
}

/** `undefined` when the run uses no database. */
export async function readRunNote(disk: Disk, out: string): Promise<RunNote | undefined> {
  const path = runNotePath(out);
  const found = await disk.stat(path);
  if (found === undefined) return undefined;
  try {
    return noteSchema.parse(JSON.parse((await readFile(disk, path, found.size)).toString()));
  } catch (cause) {
    const message = `${path} is damaged: it says which run of which database belongs to the folder.`;
    throw new DatabaseError('database', message, { cause });
  }
}

export function newRunNote({ shown, isEmbedded }: { shown: string; isEmbedded: boolean }): RunNote {
  return {
    ...{ key: randomUUID(), database: shown, isEmbedded, isBegun: false, isOpen: false },
    ...{ collected: 0, among: 0 },
  };
}

export async function writeRunNote(disk: Disk, out: string, note: RunNote): Promise<void> {
  await replaceFile(disk, runNotePath(out), `${JSON.stringify(note)}\n`);
}

/** The database of a run's folder. A note has no password: that comes from PGPASSWORD or ~/.pgpass. */
export interface DatabaseOfRun {
  readonly note: RunNote;
  readonly choice: DatabaseChoice;
}

/**
 * The database that a run's folder names; `undefined` when the run uses none.
 *
 * @param given An address to use instead of the noted one.
 */
export async function databaseOfRun(out: string, given?: string): Promise<DatabaseOfRun | undefined> {
  const note = await readRunNote(nodeDisk, out);
  if (note?.isBegun !== true) return undefined;
  if (given !== undefined && given !== 'embedded') return { note, choice: { url: given } };
  if (given === 'embedded' || note.isEmbedded) return { note, choice: { embeddedIn: out } };
  return { note, choice: { url: note.database.replace(':***@', '@') } };
}
