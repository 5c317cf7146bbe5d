import { chmod, mkdir, mkdtemp, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { valueOfJson } from '../../batch/disk/read-file.js';
import { DatabaseError } from '../database/database-error.js';
import type { MayUse } from './postgres-binaries.js';

/** The folder and the password of an embedded database. */
export interface DatabasePlace {
  readonly folder: string;
  readonly password: string;
}

const noteSchema = z.object({ folder: z.string(), password: z.string() });

/** The file in a run's folder that names the embedded database's folder and password. Only its owner can read it. */
export function notePath(out: string): string {
  return join(out, 'database.json');
}

/**
 * The place of a run's embedded database: the noted one, or a new one in the run's folder. If the database's user may not enter
 * that folder, it is in the system's temporary folder. Call it while holding the folder's start lock.
 *
 * @throws {DatabaseError} if the noted folder is gone.
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

/** The noted place; `undefined` if the run has no embedded database. */
export async function readPlace(out: string): Promise<DatabasePlace | undefined> {
  const text = await readFile(notePath(out), 'utf8').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new DatabaseError('database', `${notePath(out)} cannot be read: ${message}.`);
  });
  if (text === undefined) return undefined;
  const place = noteSchema.safeParse(valueOfJson(text));
  if (!place.success)
    throw new DatabaseError('database', `${notePath(out)} does not say where the database is.`);
  const folder = resolve(out, place.data.folder);
  if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return { ...place.data, folder };
  const message =
    `The database of this run was in ${folder}, and is gone (${notePath(out)} says so). What it knew beyond the journal is lost: ` +
    `rows that were on their way are in doubt. Put the folder back, or go on without it: millrace run … --out ${out} without --db.`;
  throw new DatabaseError('database', message);
}

/** Creates a new folder. If it is inside the run's folder, only its name is noted, so that the run's folder can be moved. */
async function newFolder(out: string, mayUse: MayUse): Promise<string> {
  const inside = join(out, 'database');
  await mkdir(inside, { recursive: true });
  if (await mayUse(inside)) return 'database';
  await rmdir(inside);
  const elsewhere = await mkdtemp(join(tmpdir(), 'millrace-database-'));
  await chmod(elsewhere, 0o711);
  return elsewhere;
}
