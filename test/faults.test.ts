import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('./', import.meta.url);

interface Fault {
  readonly name: string;
  readonly tests: { readonly file: string; readonly titles: string[] }[];
}

/** The headings of the list of faults, each with the tests below it. */
function listed(): Fault[] {
  const faults: Fault[] = [];
  for (const line of readFileSync(new URL('README.md', folder), 'utf8').split('\n')) {
    const [, name] = /^### (.+)$/.exec(line) ?? [];
    const [, file] = /^- `(.+)`$/.exec(line) ?? [];
    const [, title] = /^ {2}- (.+)$/.exec(line) ?? [];
    if (name !== undefined) faults.push({ name, tests: [] });
    if (file !== undefined) faults.at(-1)?.tests.push({ file, titles: [] });
    if (title !== undefined) faults.at(-1)?.tests.at(-1)?.titles.push(title.replaceAll('\\', ''));
  }
  return faults;
}

/** Of those titles that no test of the file has. */
function lost({ file, titles }: Fault['tests'][number]): string[] {
  const path = new URL(file, folder);
  const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return titles.filter((title) => !["'", '"', '`'].some((mark) => source.includes(mark + title + mark)));
}

describe('the list of faults', () => {
  it('numbers them from 1 to 32, with those that a letter sets apart', () => {
    const numbers = listed().map(({ name }) => name.split('.')[0] ?? '');
    const wanted = Array.from({ length: 32 }, (_, at) => String(at + 1));
    expect(numbers.filter((number) => /^\d+$/.test(number))).toEqual(wanted);
    expect(numbers.filter((number) => !/^\d+[a-z]?$/.test(number))).toEqual([]);
  });

  it.each(listed())('$name: its tests exist', ({ tests }) => {
    expect(tests.flatMap(({ titles }) => titles).length).toBeGreaterThan(0);
    expect(
      tests.flatMap(({ file, titles }) => lost({ file, titles }).map((title) => `${file}: ${title}`)),
    ).toEqual([]);
  });
});
