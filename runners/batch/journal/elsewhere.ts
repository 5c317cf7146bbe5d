import * as z from 'zod';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Disk } from '../disk/disk.js';
import { readFile } from '../disk/read-file.js';

/** The note in a run's folder about its run in a database, as far as a start without the database needs it. */
export const elsewhereSchema = z.object({
  /** The run's name in the database. */
  key: z.string(),
  /** Which database, without its password. */
  database: z.string(),
  /** The database may have rows that are on their way, or records that the journal does not have. */
  isOpen: z.boolean(),
});

/** What the journal notes of a start whose rows are done from a database: the file beside it may be lost. */
export type DatabaseOfStart = Pick<z.infer<typeof elsewhereSchema>, 'key' | 'database'>;

const ofStartSchema = elsewhereSchema.omit({ isOpen: true });

/** The database of a start, by the settings that the journal has of it; `undefined`: its rows were done here. */
export function databaseOfStart(settings: Record<string, unknown>): DatabaseOfStart | undefined {
  return ofStartSchema.safeParse(settings['database']).data;
}

export function elsewherePath(out: string): string {
  return `${out}/distributed.json`;
}

/**
 * Reads a run's note about its database; `undefined`: there is none.
 *
 * @throws {MillraceError} `usage` where it is damaged
 */
export async function readElsewhere<T>(
  disk: Disk,
  out: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const path = elsewherePath(out);
  const found = await disk.stat(path);
  if (found === undefined) return undefined;
  try {
    return schema.parse(JSON.parse((await readFile(disk, path, found.size)).toString()));
  } catch (cause) {
    const message = `${path} is damaged: it says which run of which database belongs to the folder.`;
    throw new MillraceError('usage', message, { cause });
  }
}

/**
 * Keeps a start without a database from rows that may be on their way in one: it would buy them twice.
 *
 * @throws {MillraceError} `usage`. Nothing has been sent.
 */
export async function refuseElsewhere(
  disk: Disk,
  out: string,
  { database: started }: { readonly database?: DatabaseOfStart | undefined },
): Promise<void> {
  const note = await readElsewhere(disk, out, elsewhereSchema);
  const isLost = note === undefined;
  const { database } = note ?? started ?? {};
  if (isLost ? started === undefined : !note.isOpen) return;
  const why = isLost ? `, and ${elsewherePath(out)}, which says how far they are, is gone` : '';
  const message =
    `the run in ${out} has rows in a database (${database}) that may be on their way${why}: nothing was sent; ` +
    'go on with --db and that database; once all of its rows have ended it can be gone on with either way';
  throw new MillraceError('usage', message);
}
