import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { OutStream } from '../../../../runners/cli/io/cli-io.js';
import { wrapLines, wrapped } from '../../../../runners/cli/io/wrap-lines.js';

const commands = [
  `millrace run edits.csv --out edits.out --base-url https://api.example.test --set 'prompt=a red mug' --retry failed`,
  `millrace run edits.csv --local --set 'prompt=don'\\''t change the face, keep the  cat'\\''s colours' --retry failed --each 'style=oil, wet'`,
  `millrace run edits.csv --set 'prompt=keep the mountains as they are, and the lake, but\nmake the sky as red as it was yesterday, and don'\\''t\nchange the boat at all, whatever the line' --retry failed`,
];

describe.each([40, 60, 80])('a terminal of %i columns', (columns) => {
  it('never breaks a word, and keeps the indentation', () => {
    const text = `  failed       11 rows of the resolution 2k were refused, a rehearsal sends them again without a charge\nshort`;
    const lines = wrapLines(text, columns).split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines.slice(0, -1).every((line) => line.startsWith('  '))).toBe(true);
    expect(lines.join(' ').replace(/ +/g, ' ')).toBe(text.replace('\n', ' ').replace(/ +/g, ' '));
  });

  it.each(commands)(
    'leaves a command such that a shell reads it as one, with the same words: %s',
    (command) => {
      const lines = wrapLines(`    ${command}`, columns);
      // A quoted argument is not broken.
      for (const line of lines.split('\n').filter((one) => !one.includes("'")))
        expect(line.length).toBeLessThanOrEqual(columns);
      const args = (text: string): string =>
        execFileSync('sh', ['-c', `millrace() { printf '%s|' "$@"; }\n${text}`], { encoding: 'utf8' });
      expect(args(lines)).toBe(args(command));
    },
  );
});

it('breaks no command in a sentence: pasted, its first line would be run alone', () => {
  const worker = '`millrace worker --db embedded --out /srv/edits.out`';
  const text = `warning: 20 rows wait, but no worker is running. Start one: ${worker}.`;
  expect(wrapLines(text, 40).split('\n')).toEqual([
    'warning: 20 rows wait, but no worker is',
    'running. Start one:',
    `${worker}.`,
  ]);
});

it('leaves JSON, what fits, and what draws on the terminal', () => {
  for (const text of ['{"a":"b c d e f g h i j"}', 'fits here', '\u001b[2A\rdrawn by the display\u001b[J'])
    expect(wrapLines(text, 12)).toBe(text);
});

it('lets a person be asked, as readline asks', async () => {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true, columns: 40 })];
  const dialogue = createInterface({ input, output: wrapped(output) });
  const answer = dialogue.question('Go on? [y/N] ');
  input.write('y\n');
  expect(await answer).toBe('y');
  dialogue.close();
  expect(String(output.read())).toContain('Go on? [y/N] ');
});

it('wraps on a terminal alone', () => {
  const written: string[] = [];
  const stream = (isTTY: boolean): OutStream => ({
    isTTY,
    columns: 10,
    write: (text) => written.push(text) > 0,
    on: () => undefined,
    off: () => undefined,
  });
  wrapped(stream(true)).write('one two three\n');
  wrapped(stream(false)).write('one two three\n');
  expect(written).toEqual(['one two\nthree\n', 'one two three\n']);
});
