import * as z from 'zod';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Disk } from '../disk/disk.js';
import { readFile } from '../disk/read-file.js';

/**
 * The file in a run's folder that says where its rows are in a database. Only the fields that a start without the
 * database needs.
 */
export const elsewhereSchema = z.object({
  /** The run's name in the database. */
  key: z.string(),
  /** The database, without its password. */
  database: z.string(),
  /** The database may have rows in flight, or records that the journal does not have. */
  isOpen: z.boolean(),
});

/** The database as the journal records it at each start, because the file in the folder may be lost. */
export type DatabaseOfStart = Pick<z.infer<typeof elsewhereSchema>, 'key' | 'database'>;

const ofStartSchema = elsewhereSchema.omit({ isOpen: true });

/** The database of a start, from the settings in the journal; `undefined` if the start used none. */
export function databaseOfStart(settings: Record<string, unknown>): DatabaseOfStart | undefined {
  return ofStartSchema.safeParse(settings['database']).data;
}

export function elsewherePath(out: string): string {
  return `${out}/distributed.json`;
}

/**
 * Reads the file about a run's database; `undefined` if there is none.
 *
 * @throws {MillraceError} `usage` if the file is damaged
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
 * Refuses a start without a database if rows may be in flight from one: they would be bought twice.
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
    'continue with --db and that database; once all of its rows have ended, the run can continue with or without it';
  throw new MillraceError('usage', message);
}
