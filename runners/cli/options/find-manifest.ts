import { stat, readdir } from 'node:fs/promises';
import { basename, dirname, resolve, join, parse } from 'node:path';
import { manifestFormat, saveAsCsv, shellWords } from '../../batch/formats.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';

export interface ManifestSource {
  /** The path as given, for messages. */
  readonly name: string;
  /** Absolute; `undefined` for stdin. */
  readonly path: string | undefined;
  readonly format: 'csv' | 'jsonl';
  readonly gzip: boolean;
  /** The base of image paths in the manifest. */
  readonly folder: string;
}

/** Finds the manifest that the command line names. Throws `UsageError` if there is no such file or its format is unknown. */
export async function findManifest(
  name: string,
  format: 'csv' | 'jsonl' | undefined,
  io: Pick<CliIo, 'cwd'> & Partial<Pick<CliIo, 'env' | 'stderr'>>,
): Promise<ManifestSource> {
  if (name === '-') {
    if (format === undefined)
      throw new UsageError(['a manifest from stdin (-) needs --format csv or --format jsonl']);
    return { name: 'stdin', path: undefined, format, gzip: false, folder: io.cwd };
  }
  const asked = resolve(io.cwd, name);
  const path = await findSaved(asked, io);
  const found = await stat(path).catch((error: unknown) =>
    fail(name, error as NodeJS.ErrnoException, io.env),
  );
  if (found.isDirectory()) {
    throw new UsageError(
      [`"${name}" is a folder, not a manifest`],
      `${shellWords('millrace', 'init', name)} --prompt "…" writes one of its pictures`,
    );
  }
  const known = manifestFormat(path);
  if (!found.isFile()) {
    const shape = format ?? known?.format ?? 'csv';
    throw new UsageError(
      [`"${name}" is not a file, and a manifest is read more than once`],
      `${shellWords('cat', name)} | millrace run - --format ${shape} --out DIR reads what comes through it, and keeps it there`,
    );
  }
  if (/\.(xlsx?|xlsm|xlsb|ods|numbers)$/i.test(path))
    throw new UsageError([`"${basename(name)}" is a spreadsheet, and a manifest is text`], saveAsCsv);
  if (known === undefined && format === undefined) {
    throw new UsageError([
      `"${basename(name)}" is not a .csv, .jsonl or .ndjson file (each also .gz): say what it is with --format csv or --format jsonl`,
    ]);
  }
  return {
    name,
    path,
    format: format ?? known?.format ?? 'csv',
    gzip: known?.gzip ?? /\.gz$/i.test(path),
    folder: dirname(asked),
  };
}

const redoName = /\.redo\.(csv|jsonl)$/i;

/**
 * Looks for a redo manifest that is not at its path in Downloads, where the browser may have saved it: the newest file of that
 * name.
 */
async function findSaved(
  asked: string,
  { env = {}, stderr }: Partial<Pick<CliIo, 'env' | 'stderr'>>,
): Promise<string> {
  if (!redoName.test(asked) || (await stat(asked).catch(() => undefined)) !== undefined) return asked;
  const [saved] = await savedFiles(downloadsOf(env), basename(asked));
  if (saved !== undefined) stderr?.write(`note: ${basename(asked)} is taken from Downloads: ${saved}\n`);
  return saved ?? asked;
}

async function fail(name: string, error: NodeJS.ErrnoException, env: CliIo['env'] = {}): Promise<never> {
  const why =
    error.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${error.code ?? error.message})`;
  const [saved] = await savedFiles(downloadsOf(env), basename(name));
  const redo = redoName.test(name)
    ? `"Save redo manifest" of the report saves it: it is looked for there, and in Downloads`
    : undefined;
  throw new UsageError(
    [`manifest "${name}": ${why}`],
    saved === undefined ? redo : `a file of that name is in Downloads: ${shellWords(saved)}`,
  );
}

/** Where a browser saves the report's files by default. */
export function downloadsOf(env: CliIo['env']): string[] {
  const home = env['HOME'] ?? env['USERPROFILE'];
  return home === undefined ? [] : [join(home, 'Downloads')];
}

/**
 * The files that a browser saved under this name in these folders, the newest first. A browser adds a number to a
 * name that exists: `edits.chosen (1).csv`.
 */
export async function savedFiles(places: readonly string[], wanted: string): Promise<string[]> {
  const { name: stem, ext } = parse(wanted);
  const isSaved = (name: string): boolean =>
    name === wanted ||
    (name.startsWith(stem) &&
      name.endsWith(ext) &&
      /^[ _-]?\(?\d+\)?$/.test(name.slice(stem.length, -ext.length)));
  const found = await Promise.all(
    places.map(async (place) => {
      const names = (await readdir(place).catch(() => [])).filter(isSaved);
      return Promise.all(
        names.map(async (name) => {
          const path = join(place, name);
          return { path, entry: await stat(path).catch(() => undefined) };
        }),
      );
    }),
  );
  return found
    .flat()
    .flatMap(({ path, entry }) => (entry?.isFile() === true ? [{ path, at: entry.mtimeMs }] : []))
    .sort((one, other) => other.at - one.at)
    .map(({ path }) => path);
}
