import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';

/** The folder of a run that a command names, made absolute. Throws `UsageError` when no run lies there. */
export async function runFolder(name: string, io: Pick<CliIo, 'cwd'>): Promise<string> {
  const folder = resolve(io.cwd, name);
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) throw new UsageError([`"${name}": there is no such folder`]);
  if (!found.isDirectory()) throw new UsageError([`"${name}" is no folder: name the output folder of a run`]);
  const journal = await stat(join(folder, 'journal.jsonl')).catch(() => undefined);
  if (journal === undefined)
    throw new UsageError([`"${name}" holds no run: there is no journal.jsonl in it`]);
  return folder;
}
