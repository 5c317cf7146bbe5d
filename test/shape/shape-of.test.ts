import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { measureShape } from './shape-of.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shape-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, ...lines: string[]): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
}

test('counts files, lines, importers and the longest chains of imports', () => {
  write(
    'src/main.ts',
    "import { one } from './a/one.js';",
    "import type { Two } from './a/two.js';",
    'export { one };',
  );
  write('src/a/one.ts', "import { three } from '../b/three.js';", 'export const one = three;');
  write('src/a/two.ts', "import type { One } from './one.js';", 'export type Two = One;');
  write(
    'src/b/three.ts',
    'export function three(): number {',
    '  return 3;',
    '}',
    ...Array<string>(30).fill('//'),
  );
  write('src/b/two.ts', "export const lazy = () => import('./three.js');");
  const shape = measureShape(['src'], 'src/main.ts', folder);
  expect(shape.files).toBe(5);
  expect(shape.lines).toBe(3 + 2 + 2 + 33 + 1);
  expect(shape.functionLines).toEqual([1, 1, 3]);
  expect(shape.small).toEqual(['src/a/one.ts', 'src/a/two.ts', 'src/b/two.ts', 'src/main.ts']);
  expect(shape.oneImporter).toEqual(['src/a/two.ts']);
  expect(shape.depth.runTime).toEqual(['src/main.ts', 'src/a/one.ts', 'src/b/three.ts']);
  expect(shape.depth.withTypes).toEqual(['src/main.ts', 'src/a/two.ts', 'src/a/one.ts', 'src/b/three.ts']);
  expect(shape.largestFolder.files).toBe(2);
  expect(shape.twice).toEqual(['two']);
});

test('an import of types beside one of values counts as one of values', () => {
  write('src/main.ts', "import type { A } from './a.js';", "import { a } from './a.js';", 'export { a };');
  write('src/a.ts', 'export const a = 1;', 'export type A = number;');
  expect(measureShape(['src'], 'src/main.ts', folder).depth.runTime).toEqual(['src/main.ts', 'src/a.ts']);
});
