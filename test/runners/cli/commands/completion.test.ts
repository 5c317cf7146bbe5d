import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { millrace } from '../../../support/millrace.js';
import { skipTest } from '../../../support/skip-test.js';

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await millrace(['completion', shell]);
  expect(code).toBe(0);
  return stdout;
}

it('completes commands, options and nothing else in a real bash', async () => {
  const script = await scriptFor('bash');
  const complete = (...words: string[]) =>
    execFileSync(
      'bash',
      [
        '--norc',
        '-c',
        `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _millrace; echo "\${COMPREPLY[@]}"; complete -p millrace`,
        'bash',
        ...words,
      ],
      {
        encoding: 'utf8',
      },
    ).split('\n');
  expect(complete('millrace', 'ref')[0]).toBe('refetch');
  expect(complete('millrace', 'run', '--max-c')[0]).toBe('--max-cost --max-cost-per-day --max-cost-by');
  expect(complete('millrace', 'settle', 'out', '--')[0]).toBe(
    '--job --paid --not-sent --undo --attempt --statement --job-column --amount-column --time-column --yes --base-url --api-key-file --db --help',
  );
  const [files, rule] = complete('millrace', 'run', 'ed');
  expect([files, rule]).toEqual(['', 'complete -o bashdefault -o default -F _millrace millrace']);
});

it('has the meaning of each option for zsh', async () => {
  const script = await scriptFor('zsh');
  expect(script).toMatch(/^#compdef millrace\n/);
  expect(script).toContain(
    "'*--max-cost[cost cap over all starts of the run, which remembers it; none lifts it]:value:_files'",
  );
});

it('is a script that zsh takes', async ({ skip }) => {
  if (spawnSync('zsh', ['--version']).status !== 0) skipTest({ skip }, 'zsh is not installed');
  expect(spawnSync('zsh', ['-n', '-c', await scriptFor('zsh')]).stderr.toString()).toBe('');
});

it('knows no other shell', async () => {
  expect(await millrace(['completion', 'fish'])).toMatchObject({ code: 2 });
});
