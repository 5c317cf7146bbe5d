import { chmod, mkdir, mkdtemp, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { valueOfJson } from '../../batch/disk/read-file.js';
import { DatabaseError } from '../database/database-error.js';
import { isInitialised } from './cluster.js';
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
 * @param options with `repair`, a new place is made if the noted folder is gone
 * @throws {DatabaseError} if the noted folder is gone, or if a database is there and the note with its password is gone
 */
export async function databasePlace(
  out: string,
  mayUse: MayUse,
  { repair = false }: { readonly repair?: boolean | undefined } = {},
): Promise<DatabasePlace> {
  const noted = await readNote(out);
  if (noted !== undefined && (await isFolder(noted.folder))) return noted;
  if (noted !== undefined && !repair) throw isGone(out, noted.folder);
  if (await isInitialised(join(out, inside))) throw withoutPassword(out);
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

/**
 * The noted place; `undefined` if the run has no embedded database.
 *
 * @throws {DatabaseError} if the noted folder is gone
 */
export async function readPlace(out: string): Promise<DatabasePlace | undefined> {
  const noted = await readNote(out);
  if (noted !== undefined && !(await isFolder(noted.folder))) throw isGone(out, noted.folder);
  return noted;
}

async function readNote(out: string): Promise<DatabasePlace | undefined> {
  const text = await readFile(notePath(out), 'utf8').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new DatabaseError('database', `${notePath(out)} cannot be read: ${message}.`);
  });
  if (text === undefined) return undefined;
  const place = noteSchema.safeParse(valueOfJson(text));
  if (!place.success)
    throw new DatabaseError('database', `${notePath(out)} does not say where the database is.`);
  return { ...place.data, folder: resolve(out, place.data.folder) };
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

function isGone(out: string, folder: string): DatabaseError {
  const message =
    `The database of this run was in ${folder}, and is gone (${notePath(out)} says so). What it knew beyond the journal is lost. ` +
    'Put the folder back. If it is gone for good, --repair goes on in a new one: rows that were on their way are in doubt then.';
  return new DatabaseError('database', message);
}

function withoutPassword(out: string): DatabaseError {
  const folder = join(out, inside);
  const message =
    `${notePath(out)} has the password of the database in ${folder}, and is gone. Put it back. If it is lost, move that folder away and ` +
    'start with --repair: rows that were on their way are in doubt then.';
  return new DatabaseError('database', message);
}

/** The name of the database's folder, if it is inside the run's folder. */
const inside = 'database';

/** Creates a new folder. If it is inside the run's folder, only its name is noted, so that the run's folder can be moved. */
async function newFolder(out: string, mayUse: MayUse): Promise<string> {
  const folder = join(out, inside);
  await mkdir(folder, { recursive: true });
  if (await mayUse(folder)) return inside;
  await rmdir(folder);
  const elsewhere = await mkdtemp(join(tmpdir(), 'millrace-database-'));
  await chmod(elsewhere, 0o711);
  return elsewhere;
}
