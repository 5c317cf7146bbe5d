import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import type { ManifestSource } from './find-manifest.js';

/** The absolute path of a run's folder. Throws `UsageError` when there is no run in it. */
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

/** The run's folder: as given, else beside the manifest by its name: `edits.csv` → `edits.out`, with `--local` `edits.local.out`. */
export function outFolder(
  source: ManifestSource,
  given: string | undefined,
  local: boolean,
  cwd: string,
): string {
  if (given !== undefined) return resolve(cwd, given);
  if (source.path === undefined)
    throw new UsageError(['a manifest from stdin (-) needs --out DIR: it is kept there']);
  const stem = basename(source.path)
    .replace(/\.gz$/i, '')
    .replace(/\.(csv|jsonl|ndjson)$/i, '');
  return join(source.folder, `${stem}${local ? '.local' : ''}.out`);
}
