import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import {
  elsewherePath,
  elsewhereSchema,
  readElsewhere,
  type DatabaseOfStart,
} from '../../batch/journal/elsewhere.js';
import type { DatabaseChoice } from '../connect-database.js';

const noteSchema = elsewhereSchema.extend({
  /** The database is embedded: it is in the folder, or belongs to it. */
  isEmbedded: z.boolean(),
  /** The database knows the run. */
  isBegun: z.boolean(),
  /** All records of the database up to this number are in the journal … */
  collected: z.number(),
  /**
   * … and the last of them comes after this many of its records. Notes of older versions have 0, and the record may be
   * anywhere. @defaultValue 0
   */
  among: z.number().default(0),
  /** Rows of the manifest beyond this number were never in the database. @defaultValue 0 */
  fedUpToRow: z.number().default(0),
  /** The jobs of this many of the journal's first records are in the database. @defaultValue 0 */
  named: z.number().default(0),
});

/** The note in a run's folder about its run in a database. */
export type RunNote = Readonly<z.infer<typeof noteSchema>>;

/** `undefined` if the run uses no database. */
export function readRunNote(disk: Disk, out: string): Promise<RunNote | undefined> {
  return readElsewhere(disk, out, noteSchema);
}

/**
 * The note of a run that no database knows yet, or whose note is lost. With it, all records of the database are compared with
 * the journal's.
 */
export function newRunNote(
  { shown, isEmbedded }: { shown: string; isEmbedded: boolean },
  lost?: DatabaseOfStart,
): RunNote {
  const isBegun = lost !== undefined;
  const { key, database } = lost ?? { key: randomUUID(), database: shown };
  return noteSchema.parse({ key, database, isEmbedded, isBegun, isOpen: isBegun, collected: 0 });
}

export interface NoteKeeper {
  readonly note: () => RunNote;
  readonly keepNote: (change: Partial<RunNote>) => Promise<void>;
}

export function keepingNote(
  disk: Disk,
  out: string,
  first: RunNote,
  { shown, isEmbedded }: { shown: string; isEmbedded: boolean },
): NoteKeeper {
  let known = first;
  // One after the other, because rows are fed while records are copied.
  let written: Promise<unknown> = Promise.resolve();
  const write = () => replaceFile(disk, elsewherePath(out), `${JSON.stringify(known)}\n`);
  return {
    note: () => known,
    keepNote: (change) => {
      known = { ...known, ...change, database: shown, isEmbedded };
      const writing = written.then(write);
      written = writing.catch(() => undefined);
      return writing;
    },
  };
}

/** The database of a run's folder. The note contains no password: that comes from PGPASSWORD or ~/.pgpass. */
export interface DatabaseOfRun {
  readonly note: RunNote;
  readonly choice: DatabaseChoice;
}

/**
 * The database that a run's folder names; `undefined` if the run uses none.
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
