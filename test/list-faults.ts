/**
 * `npm run list:faults`: writes below each fault of test/README.md the tests that show it. A test names its faults at the end of
 * its title: `[fault 4a]`, `[fault 2, 3]`. The headings and the sentences below them are written by hand.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';

const folder = 'test';
const readme = `${folder}/README.md`;

/** A test that names a fault in its title. */
export interface FaultTest {
  readonly fault: string;
  readonly file: string;
  readonly title: string;
}

/** All of them, in the order of their files. */
export function faultTests(): FaultTest[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.test.ts'),
  );
  return files
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .flatMap((file) => testsIn(file, readFileSync(`${folder}/${file}`, 'utf8')));
}

function testsIn(file: string, source: string): FaultTest[] {
  return [...source.matchAll(/(?:\(|\n)\s*(['"`])((?:(?!\1)[^\n])*) \[fault ([0-9a-z, ]+)\]\1/g)].flatMap(
    ([, , title = '', faults = '']) => faults.split(', ').map((fault) => ({ fault, file, title })),
  );
}

/** The faults that the page has a heading for. */
export function listedFaults(page: string): string[] {
  return [...page.matchAll(/^### (\S+)\. /gm)].map(([, fault = '']) => fault);
}

/** The page with the tests below each fault as `tests` has them. */
export function withTests(page: string, tests: readonly FaultTest[]): string {
  return page.replace(
    /^### (\S+)\. .*\n\n(?:[^\n]+\n)+\n(?:- .*\n(?: {2}- .*\n)*)*/gm,
    (section, fault: string) => section.replace(/^(?:- .*\n| {2}- .*\n)+/m, '') + bullets(fault, tests),
  );
}

function bullets(fault: string, tests: readonly FaultTest[]): string {
  const own = tests.filter((test) => test.fault === fault);
  const files = [...new Set(own.map(({ file }) => file))];
  return files
    .map((file) =>
      [
        `- \`${file}\``,
        ...own.filter((test) => test.file === file).map(({ title }) => `  - ${inCode(title)}`),
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
    .join('');
}

/** As inline code, so that no character of a title means something to Markdown. */
function inCode(title: string): string {
  return title.includes('`') ? `\`\` ${title} \`\`` : `\`${title}\``;
}

export const faultPage = (): string => readFileSync(readme, 'utf8');

if (argv.includes('--write')) writeFileSync(readme, withTests(faultPage(), faultTests()));
