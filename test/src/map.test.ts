import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as rxjs from 'rxjs';
import { describe, expect, it } from 'vitest';

const src = new URL('../../src/', import.meta.url);

/** The files that the map names, each under the room of its heading. */
function mapped(): string[] {
  let room = '';
  return readFileSync(new URL('README.md', src), 'utf8')
    .split('\n')
    .flatMap((line) => {
      room = /^### (.*\/)$/.exec(line)?.[1] ?? room;
      if (line.startsWith('## The runners')) room = 'runners';
      const file = /^\| `([^`]+\.ts)`\s+\| /.exec(line)?.[1];
      return file === undefined || room === 'runners' ? [] : [room + file];
    });
}

describe('src/README.md', () => {
  it('has a line for every file, and no line without one', () => {
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.ts') && path.includes('/'));
    expect(mapped().sort()).toStrictEqual(files.sort());
  });
});

const root = new URL('../../', import.meta.url).pathname;

/** All files below these folders, by their paths from the root. */
function filesBelow(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      `${folder}/${path.replaceAll('\\', '/')}`.replace(/^\.\//, ''),
    ),
  );
}

describe('what a README says about the code', () => {
  const files = filesBelow('src', 'runners', 'test', 'samples', '.config');
  const readmes = [...files.filter((path) => path.endsWith('README.md')), 'CONTRIBUTING.md', 'SECURITY.md'];
  const code = files
    .filter((path) => /\.[cm]?[jt]sx?$|\.json$|\.css$|\.eta$/.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8'));
  const words = new Set([...Object.keys(rxjs), ...code.flatMap((text) => text.match(/\w+/g) ?? [])]);
  const named = files.map((path) => `/${path}`);

  it.each(readmes)('%s names functions, types and files that are there', (readme) => {
    const quoted = [...readFileSync(join(root, readme), 'utf8').matchAll(/`([^`\n]+)`/g)].map(
      ([, name]) => name!,
    );
    const missing = quoted.filter((name) =>
      /^[\w/-]+(?:\.[\w-]+)*\.(?:ts|mjs|cjs)$/.test(name)
        ? !named.some((path) => path.endsWith(`/${name}`))
        : /^[a-zA-Z]\w*$/.test(name) && !words.has(name),
    );
    expect(missing).toEqual([]);
  });
});
