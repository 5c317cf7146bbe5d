import { readdirSync, readFileSync } from 'node:fs';
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
