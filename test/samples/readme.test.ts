import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { millrace } from '../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../support/rehearsal.js';

const readme = await readFile('README.md', 'utf8');

/** The first block of a language behind a heading, without its indentation. */
function blockBehind(heading: string, language: string): string {
  const at = readme.indexOf(`\`\`\`${language}\n`, readme.indexOf(heading));
  const lines = readme
    .slice(at, readme.indexOf('```', at + 3))
    .split('\n')
    .slice(1, -1);
  return lines.map((line) => line.trim()).join('\n');
}

let work: Rehearsal;
beforeEach(async () => {
  work = await openRehearsal();
  await cp('samples/pictures', join(work.folder, 'pictures'), { recursive: true });
});
afterEach(() => work.close());

it('shows what npm run sample prints', async () => {
  await cp('samples', join(work.folder, 'samples'), { recursive: true });
  const args = ['run', 'samples/edits.csv', '--local', '--endpoint', 'image-edit', '--out', 'out/sample'];
  const { code, stdout, stderr } = await millrace(args, { cwd: work.folder });
  expect(code).toBe(0);
  const shown = /```\n(samples\/edits\.csv: 12 rows\n[^`]*)```/.exec(readme)?.[1];
  const last = /^12 of 12 rows.*\n/m.exec(stderr)?.[0].replace(/; [\d,]+ rows a minute/, '');
  const took = (text: string): string => text.replace(/^( {2}took +)[\w ]+$/m, '$1');
  const printed = stderr.slice(0, stderr.search(/^\d+ of 12 rows/m)) + (last ?? '') + stdout;
  expect(took(printed)).toBe(took(shown ?? ''));
});

it('gives steps that work as they stand, from the manifest to the last row, and names each command whole', async () => {
  const heading = '## Before the first real run';
  await work.write('edits.csv', blockBehind(heading, 'csv').split('\n'));
  const config = JSON.parse(blockBehind(heading, 'json')) as object;
  const hosts = { base_url: work.emulator.baseUrl, images_base: `${work.emulator.baseUrl}/files/` };
  await work.write('millrace.config.json', [JSON.stringify({ ...config, ...hosts })]);
  const steps = readme.slice(readme.indexOf(heading), readme.indexOf('## The manifest, and what'));
  const commands = [...steps.matchAll(/`millrace (\w[^`<>]*)`/g)].map(([, words = '']) => words.split(/\s+/));
  // The gallery's list of kept pictures comes out of a browser.
  const open = ['FILE', 'TEXT', 'pick'];
  const whole = commands.filter((words) => !words.some((word) => open.includes(word)));
  expect(whole.map(([name]) => name)).toEqual(['plan', 'run', 'plan', 'run', 'run', 'status', 'settle']);
  for (const words of whole) {
    const { code, stderr } = await millrace(words, {
      cwd: work.folder,
      env: { MILLRACE_API_KEY: work.emulator.apiKey },
    });
    expect({ words, code, stderr: code === 0 ? '' : stderr }).toEqual({ words, code: 0, stderr: '' });
  }
  expect(work.emulator.bill()).toHaveLength(1);
  const [, variants = ''] = /`(--set 'prompt=[^`]*)`/.exec(steps) ?? [];
  await work.write('variants.csv', ['id,images', 'lake,pictures/lake.jpg']);
  const words = [...variants.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const { code, stdout } = await millrace(['plan', 'variants.csv', '--local', ...words], {
    cwd: work.folder,
  });
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('= 4 rows\n') });
});
