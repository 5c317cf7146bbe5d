import { chmod, mkdir, mkdtemp, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { DatabaseError } from '../database/database-error.js';
import type { MayUse } from './server-user.js';

/** Where an embedded database lies, and what is known of it. */
export interface DatabasePlace {
  readonly folder: string;
  readonly password: string;
}

const noteSchema = z.object({ folder: z.string(), password: z.string() });

/** The file of a run's folder that says where its embedded database is, with the password: for its owner alone. */
export function notePath(out: string): string {
  return join(out, 'database.json');
}

/**
 * The database of a run's folder: as it was noted, else a new place, inside the folder where the database's user may
 * enter it, else in the system's temporary folder. Call it under the folder's start lock.
 *
 * @throws {DatabaseError} where the noted place is gone.
 */
export async function databasePlace(out: string, mayUse: MayUse): Promise<DatabasePlace> {
  const noted = await readPlace(out);
  if (noted !== undefined) return noted;
  const folder = await newFolder(out, mayUse);
  const password = randomBytes(18).toString('base64url');
  const part = `${notePath(out)}.tmp`;
  await rm(part, { force: true });
  await writeFile(part, `${JSON.stringify({ folder, password })}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  await rename(part, notePath(out));
  return { folder: resolve(out, folder), password };
}

/** The noted place; `undefined` where no embedded database belongs to the folder. */
export async function readPlace(out: string): Promise<DatabasePlace | undefined> {
  const text = await readFile(notePath(out), 'utf8').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new DatabaseError('database', `${notePath(out)} cannot be read: ${message}.`);
  });
  if (text === undefined) return undefined;
  const place = noteSchema.safeParse(parsed(text));
  if (!place.success)
    throw new DatabaseError('database', `${notePath(out)} does not say where the database is.`);
  const folder = resolve(out, place.data.folder);
  if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return { ...place.data, folder };
  const message =
    `The database of this run was in ${folder}, and is gone (${notePath(out)} says so). What it knew beyond the journal is lost: ` +
    `rows that were on their way may have been bought. Put the folder back, or go on without it: millrace run … --out ${out} without --db.`;
  throw new DatabaseError('database', message);
}

/** Inside by its name alone, so that the run's folder can be moved. */
async function newFolder(out: string, mayUse: MayUse): Promise<string> {
  const inside = join(out, 'database');
  await mkdir(inside, { recursive: true });
  if (await mayUse(inside)) return 'database';
  await rmdir(inside);
  const elsewhere = await mkdtemp(join(tmpdir(), 'millrace-database-'));
  await chmod(elsewhere, 0o711);
  return elsewhere;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
