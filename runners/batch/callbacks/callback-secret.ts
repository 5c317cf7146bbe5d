import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { CallbackSecret } from '../context/callback-port.js';
import type { Disk } from '../disk/disk.js';
import { readFile } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';

const secretSchema = z.object({ version: z.literal(1), run: z.string().min(1), secret: z.string().min(32) });
/** A longer file, in bytes, was not written by millrace. */
const longestBytes = 4_096;
/** File mode: only the owner can read the file. */
const ownersAlone = 0o600;

/**
 * The secret of a run, created at its first start with callbacks and kept in its folder. If the file is damaged, a new
 * secret is made: callbacks to earlier URLs are then refused, and polls find the results instead.
 */
export async function callbackSecret(disk: Disk, out: string): Promise<CallbackSecret> {
  const path = `${out}/.webhook.json`;
  const known = await readSecret(disk, path);
  if (known !== undefined) return known;
  const made = { run: randomUUID(), secret: randomBytes(32).toString('base64url') };
  await replaceFile(disk, path, `${JSON.stringify({ version: 1, ...made })}\n`, ownersAlone);
  return made;
}

async function readSecret(disk: Disk, path: string): Promise<CallbackSecret | undefined> {
  const found = await disk.stat(path);
  if (found?.kind !== 'file' || found.size > longestBytes) return undefined;
  try {
    return secretSchema.parse(JSON.parse((await readFile(disk, path, found.size)).toString()));
  } catch {
    return undefined;
  }
}
