import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { firstOf, shellWords } from '../../batch/formats.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { shownPath } from '../messages/plain-text.js';
import type { ManifestSource } from './find-manifest.js';

/** The absolute path of a run's folder. If it holds no run, throws `UsageError` with the runs that may be meant. */
export async function runFolder(name: string, io: Pick<CliIo, 'cwd'>): Promise<string> {
  const folder = resolve(io.cwd, name);
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) throw new UsageError([`"${name}": there is no such folder`]);
  if (!found.isDirectory())
    throw new UsageError(
      [`"${name}" is not a folder: name the output folder of a run`],
      await meant(dirname(folder), io, `${stemOf(folder)}.`),
    );
  if (!(await holdsRun(folder)))
    throw new UsageError(
      [`"${name}" holds no run: there is no journal.jsonl in it`],
      await meant(folder, io, ''),
    );
  return folder;
}

const namesShown = 3;

/** The runs beside a manifest, or in a folder, that was named instead of a run. */
async function meant(
  parent: string,
  { cwd }: Pick<CliIo, 'cwd'>,
  beginning: string,
): Promise<string | undefined> {
  const names = (await readdir(parent).catch((): string[] => [])).filter((name) =>
    name.startsWith(beginning),
  );
  const runs: string[] = [];
  for (const name of names.sort()) if (await holdsRun(join(parent, name))) runs.push(join(parent, name));
  if (runs.length === 0) return undefined;
  const shown = runs.slice(0, namesShown).map((path) => shellWords(shownPath(path, cwd)));
  return `a run is in ${firstOf(shown, runs.length)}`;
}

export async function holdsRun(folder: string): Promise<boolean> {
  return (await stat(join(folder, 'journal.jsonl')).catch(() => undefined)) !== undefined;
}

function stemOf(path: string): string {
  return basename(path)
    .replace(/\.gz$/i, '')
    .replace(/\.(csv|jsonl|ndjson)$/i, '');
}

/**
 * The run's folder: `--out`, or else beside the manifest and named after it: `edits.csv` → `edits.out`, with `--local`
 * `edits.local.out`.
 */
export function outFolder(
  source: Pick<ManifestSource, 'path' | 'folder'>,
  given: string | undefined,
  local: boolean,
  cwd: string,
): string {
  if (given !== undefined) return resolve(cwd, given);
  if (source.path === undefined)
    throw new UsageError(['a manifest from stdin (-) needs --out DIR: it is kept there']);
  return join(source.folder, `${stemOf(source.path)}${local ? '.local' : ''}.out`);
}

/** Whether the file is named like the failures of a run. */
export function isOfFailures(manifest: string): boolean {
  return /^failures\.(jsonl|csv)$/.test(basename(manifest));
}
