import { spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { execPath } from 'node:process';
import { describe, expect, it } from 'vitest';
import { mainFile } from '../../../support/millrace.js';

describe('output on stdout that cannot be written', () => {
  const writing = (stdout: number | 'pipe', ...args: string[]) =>
    spawnSync(execPath, [mainFile, ...args], { stdio: ['ignore', stdout, 'pipe'], encoding: 'utf8' });

  it.runIf(existsSync('/dev/full')).each([
    ['of a command', ['plan', 'samples/edits.csv', '--local', '--json']],
    ['of a page', ['--help']],
  ])('%s, because the disk is full, ends it with 74', (_, args) => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = writing(full, ...args);
    expect([status, stderr]).toEqual([
      74,
      'error: a part of the output on stdout could not be written (ENOSPC); files are not affected\n',
    ]);
  });

  it('is none where it is written', () => {
    expect(writing('pipe', 'plan', 'samples/edits.csv', '--local')).toMatchObject({ status: 0, stderr: '' });
  });
});
