import { readdir, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { CliIo } from '../io/cli-io.js';

/** Where a browser puts what the report saves, unless a person has chosen another folder. */
export function downloadsOf(env: CliIo['env']): string[] {
  const home = env['HOME'] ?? env['USERPROFILE'];
  return home === undefined ? [] : [join(home, 'Downloads')];
}

/**
 * Files that a browser has saved under this name in these folders, the newest first. One that has saved a file of the name
 * before adds a number: `edits.chosen (1).csv`.
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
