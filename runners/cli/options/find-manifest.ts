import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { manifestFormat, saveAsCsv, shellWords } from '../../batch/formats.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';

/** Where the rows come from. */
export interface ManifestSource {
  /** As the person wrote it, for messages. */
  readonly name: string;
  /** Absolute; `undefined` for stdin. */
  readonly path: string | undefined;
  readonly format: 'csv' | 'jsonl';
  readonly gzip: boolean;
  /** Image paths in the manifest are relative to it. */
  readonly folder: string;
}

/** Finds the manifest that the command line names. Throws `UsageError` when there is no such file or its format is unknown. */
export async function findManifest(
  name: string,
  format: 'csv' | 'jsonl' | undefined,
  io: Pick<CliIo, 'cwd'> & Partial<Pick<CliIo, 'env'>>,
): Promise<ManifestSource> {
  if (name === '-') {
    if (format === undefined)
      throw new UsageError(['a manifest from stdin (-) needs --format csv or --format jsonl']);
    return { name: 'stdin', path: undefined, format, gzip: false, folder: io.cwd };
  }
  const path = resolve(io.cwd, name);
  const found = await stat(path).catch((error: unknown) =>
    fail(name, error as NodeJS.ErrnoException, io.env),
  );
  if (found.isDirectory()) {
    throw new UsageError(
      [`"${name}" is a folder, not a manifest`],
      `${shellWords('millrace', 'init', name)} --prompt "…" writes one of its pictures`,
    );
  }
  if (!found.isFile()) {
    throw new UsageError(
      [`"${name}" is no file, and a manifest is read more than once`],
      `${shellWords('cat', name)} | millrace run - --format csv --out DIR reads what comes through it, and keeps it there`,
    );
  }
  if (/\.(xlsx?|xlsm|xlsb|ods|numbers)$/i.test(path))
    throw new UsageError([`"${basename(name)}" is a spreadsheet, and a manifest is text`], saveAsCsv);
  const known = manifestFormat(path);
  if (known === undefined && format === undefined) {
    throw new UsageError([
      `"${basename(name)}" is no .csv, .jsonl or .ndjson file (each also .gz): say what it is with --format csv or --format jsonl`,
    ]);
  }
  return {
    name,
    path,
    format: format ?? known?.format ?? 'csv',
    gzip: known?.gzip ?? /\.gz$/i.test(path),
    folder: dirname(path),
  };
}

/** What the report saves goes where the browser puts it, while the printed command names it alone. */
async function fail(name: string, error: NodeJS.ErrnoException, env: CliIo['env'] = {}): Promise<never> {
  const why =
    error.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${error.code ?? error.message})`;
  const saved = join(env['HOME'] ?? '', 'Downloads', basename(name));
  const isSaved = env['HOME'] !== undefined && (await stat(saved).catch(() => undefined))?.isFile() === true;
  throw new UsageError(
    [`manifest "${name}": ${why}`],
    isSaved ? `a file of that name is in Downloads: ${shellWords(saved)}` : undefined,
  );
}
