import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

it('every defect of the list has its test', async () => {
  const list = await readFile(new URL('README.md', import.meta.url), 'utf8');
  const lines = [...list.matchAll(/^\| (?<what>.+?) +\| `(?<file>[^`]+)` +\| (?<title>.+?) +\|$/gm)];
  expect(lines.length).toBeGreaterThan(30);
  for (const { groups } of lines) {
    const { what = '', file = '', title = '' } = groups ?? {};
    const test = await readFile(new URL(`${file}.test.ts`, import.meta.url), 'utf8');
    expect(test.includes(`'${title}'`), `${what}: ${file} has no test "${title}"`).toBe(true);
  }
});
